import type { Readable, Writable } from 'node:stream'
import type { Backend } from './backend.ts'
import type { Remedy } from './denials/denial-remedy.ts'
import type { KnownPlaces } from './known-places.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { SecondFence } from './second-fence.ts'
import type { Shell } from './shell.ts'

/** The size of a terminal in characters. Each number is at least 1 and at most 65535. */
export type TerminalSize = { readonly columns: number; readonly rows: number }

/** A command to run: an argument vector, never a shell string. */
export type Command = {
  readonly argv: readonly [string, ...string[]]
  /** The directory in which the command starts, as an absolute path. */
  readonly cwd: string
  /** Environment variables that are set in addition to those that pass the policy's environment filters. */
  readonly env?: Readonly<Record<string, string>>
  /** The command's standard input. `'null'` (the default) means /dev/null, so that no command waits for keyboard input. */
  readonly stdin?: 'null' | 'pipe' | 'inherit'
  /** If true, the command may write only to its temporary directory. Default: it may write where the policy allows it. */
  readonly readOnly?: boolean
  /**
   * Absolute paths that this command can't read, in addition to the paths that the policy denies. A path that is itself one of the policy's roots
   * stays readable.
   */
  readonly hidden?: readonly string[]
  /**
   * The size of a pseudo-terminal to run the command in. This terminal is the command's standard input, output and error, so `stdin` must be left
   * out. It is also the command's controlling terminal, so typing control-C interrupts the command. `TERM` is `xterm-256color` unless the
   * policy or `env` sets it. Default: no terminal.
   */
  readonly terminal?: TerminalSize
  /** A time limit in milliseconds of wall time. It overrides the policy's limit. */
  readonly timeoutMs?: number
  /** The most output in bytes. It overrides the policy's limit, which is meant for one command, not for a process that answers requests for as long as the run. */
  readonly outputBytes?: number
  readonly signal?: AbortSignal
}

/** How a command ended. A non-zero exit code is an ordinary outcome. */
export type ExecResult = (
  | { readonly status: 'exited'; readonly code: number }
  | { readonly status: 'signaled'; readonly signal: string }
  | { readonly status: 'timed-out'; readonly afterMs: number }
  | { readonly status: 'cancelled' }
) & {
  readonly durationMs: number
  readonly denials: readonly Denial[]
}

/** An operation that the sandbox refused, or may have refused. */
export type Denial = {
  readonly kind: 'path' | 'host' | 'syscall' | 'limit' | 'git'
  readonly subject: string
  /** The entry of the policy, or the general rule of the sandbox, that led to the refusal. */
  readonly rule: string
  readonly certainty: 'proven' | 'suspected'
  /** What a user could change to allow the access. */
  readonly remedy: Remedy
}

/** The pseudo-terminal of a running command. */
export type Terminal = {
  /** Changes the size and notifies the command's programs (SIGWINCH). Throws `RangeError` for an impossible size. */
  resize(size: TerminalSize): void
}

export type SandboxProcess = {
  readonly pid: number | undefined
  /**
   * A stream to the command's standard input; undefined unless `stdin` is `'pipe'` or the command has a terminal. With a terminal, what is written
   * here counts as typed, and ending this stream types an end of input (control-D).
   */
  readonly stdin: Writable | undefined
  /** The command's standard output or, with a terminal, everything that the terminal shows. */
  readonly stdout: Readable
  /** The command's standard error. With a terminal, it is empty, unless the command could not be started in that terminal. */
  readonly stderr: Readable
  /** The command's terminal; undefined unless the command asked for one. */
  readonly terminal: Terminal | undefined
  /**
   * Resolves when the command has ended and all its output has been read. It rejects only if the command could not be started, never because of what
   * the command did.
   */
  readonly result: Promise<ExecResult>
  /** Kills the whole process tree: TERM, then KILL after a grace period. */
  kill(): void
}

/** An opened sandbox, which enforces one policy. If its backend can't enforce the policy, the sandbox can't be opened. */
export type Sandbox = {
  readonly backend: Backend
  readonly policy: SandboxPolicy
  /**
   * Default limits that can't be enforced here, as sentences for a run's summary. A limit that a caller sets is never among them: it is either
   * enforced or refused.
   */
  readonly unenforced: readonly string[]
  /** What confines the writes of commands besides mounts. It is absent for a backend that knows no such fence. */
  readonly fence?: SecondFence
  /** The first arguments of a command that runs one of our own programs with Node inside the sandbox. Node's options come after them. */
  readonly node: readonly [string, ...string[]]
  /**
   * Returns the file system entries at the policy's paths. A sandbox opened later for the same paths can then check whether these entries are
   * still there. The function is absent if the backend keeps no record of these entries.
   */
  readonly known?: () => KnownPlaces
  /**
   * Whether commands find nothing of this machine at a path and below it, because the tree that they see was built without it. The function is absent if
   * they see the whole machine, or a machine of their own.
   */
  readonly hides?: (path: string) => boolean
  /** The shell that interprets command lines inside the sandbox: bash, if there is one. */
  readonly shell: Shell
  /** Starts a command. Throws `SandboxError` if it can't be started, for example because its directory or program is missing. */
  spawn(command: Command): SandboxProcess
  /**
   * Imports what running commands have changed in git's data, and reports what can't be imported. This happens automatically when a command ends. If
   * no running command may write, it returns `[]` immediately.
   */
  inspect(): Promise<readonly Denial[]>
  /** Whether a command that may write is running. */
  isWriting(): boolean
  /** Releases everything that the backend holds (containers, proxies, temporary directories). Further calls do nothing. */
  close(): Promise<void>
}
