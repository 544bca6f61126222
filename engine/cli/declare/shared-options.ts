/** Receives the exit code of the command that ran. */
export type Finish = (exitCode: number) => void

/**
 * The flag with which the user states that this program already runs inside a sandbox. `agent sandbox` and all commands that have the options of a
 * run have it.
 */
export const externallySandboxed = [
  '--externally-sandboxed',
  'state that the surrounding container or virtual machine is the sandbox: commands run unconfined (-s danger-full-access)',
] as const

/** The flag that gives commands access to the machine's docker daemon. */
export const mountDockerSocket = [
  '--dangerously-mount-docker-socket',
  "let commands talk to this machine's docker daemon, which makes them root on this machine; every event of a run notes this",
] as const

/** The flag that shows commands the whole machine. */
export const openHome = [
  '--open-home',
  'show commands your home directory and the rest of this machine, except the places where credentials are kept (sandbox_read.home = "open")',
] as const

/** The flag that lets commands open unix sockets. */
export const allowUnixSockets = [
  '--allow-unix-sockets',
  'let commands open unix sockets: their own, and also those that other programs create while a command runs, in places that it can see',
] as const

/** The option that decides how a private view is made. */
export const viewHow = [
  '--view <how>',
  'how the private view of the workspace is made: by copying, by sharing blocks, by an overlay, or by whichever works (default: auto)',
] as const

/** The flag that makes changes in the workspace itself. */
export const inPlace = [
  '--in-place',
  'work in the workspace itself, without a private view: changes are there at once, and are neither judged nor undone',
] as const

/** The option that names a credential. Commands that have it parse its values with `another`. */
export const credential = [
  '--credential <name>',
  'let commands use a secret that they never see: a preset (github, gitlab, npm, pypi, openai, anthropic), or one of your credentials; may be repeated',
] as const

/** The option that names a service. Commands that have it parse its values with `another`. */
export const service = [
  '--service <[name=]host:port>',
  'let commands reach a server outside the sandbox, such as a database, at this port of their own localhost (and of this name); may be repeated',
] as const

/** The option that shows what would stay hidden. Commands that have it parse its values with `another`. */
export const allowRead = [
  '--allow-read <path>',
  'show this file or directory to commands although it holds secrets, or is in a private place; may be repeated',
] as const

/**
 * The flag that makes a command ignore all configuration of the user and the repository, including rules and skills. Every command that reads the
 * configuration of a run has it; `agent sandbox`, which reads only settings, doesn't.
 */
export const isolated = [
  '--isolated',
  "ignore your own and the repository's files: settings, rules, permissions, hooks, servers, skills, instructions",
] as const

/** The sandbox modes, in the order of the help text. */
export const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const
