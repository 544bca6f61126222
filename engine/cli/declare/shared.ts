/** Takes the exit code of the command that ran. */
export type Finish = (exitCode: number) => void

/** The flag of every command that confines. */
export const externallySandboxed = [
  '--externally-sandboxed',
  'state that a container or virtual machine around this is the sandbox: commands run unconfined (-s danger-full-access)',
] as const

/** The flag that gives commands the machine's docker daemon. */
export const mountDockerSocket = [
  '--dangerously-mount-docker-socket',
  "let commands talk to this machine's docker daemon, which makes them root on it; every event of a run says so",
] as const

/** The flag that lets commands open unix sockets. */
export const allowUnixSockets = [
  '--allow-unix-sockets',
  'let it open unix sockets: its own, and any of this machine that it can see and that began to listen later',
] as const

/** The flag of every command that reads configuration. */
export const isolated = [
  '--isolated',
  "let nothing of yours and of the repository's count: settings, rules, permissions, hooks, servers, skills, instructions",
] as const

/** The modes a sandbox can have, in the order of a help text. */
export const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const
