/** Takes the exit code of the command that ran. */
export type Finish = (exitCode: number) => void

/** The flag of every command that confines. */
export const externallySandboxed = [
  '--externally-sandboxed',
  'state that a container or virtual machine around this is the sandbox: commands run unconfined (-s danger-full-access)',
] as const

/** The modes a sandbox can have, in the order of a help text. */
export const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const
