/** Takes the exit code of the command that ran. */
export type Finish = (exitCode: number) => void

/** The modes a sandbox can have, in the order of a help text. */
export const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const
