import type { Readable, Writable } from 'node:stream'
import type { Backend } from './backend.ts'
import type { Remedy } from './denials/denial-remedy.ts'
import type { KnownPlaces } from './known-places.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import type { Shell } from './shell.ts'

/** How large a terminal is, in characters; each at least 1, at most 65535. */
export type TerminalSize = { readonly columns: number; readonly rows: number }

/** A command to run: an argument vector, never a shell string. */
export type Command = {
  readonly argv: readonly [string, ...string[]]
  /** The absolute directory that the command starts in. */
  readonly cwd: string
  /** Variables that are set in addition to those that pass the policy's environment filters. */
  readonly env?: Readonly<Record<string, string>>
  /** `null` (default) is /dev/null: nothing waits for a keyboard. */
  readonly stdin?: 'null' | 'pipe' | 'inherit'
  /** True takes write permission away from this command, except for its temporary directory. Default: as the policy says. */
  readonly readOnly?: boolean
  /** Absolute paths that this command can't read, in addition to the policy's denied ones; a path that a root names itself stays readable. */
  readonly hidden?: readonly string[]
  /**
   * Runs the command in a pseudo-terminal of its own, which is its standard input, output and error: `stdin` must be left out. It is the command's
   * controlling terminal, so that control-C typed into it interrupts. `TERM` is `xterm-256color` unless set otherwise.
   */
  readonly terminal?: TerminalSize
  /** Wall time in milliseconds; overrides the policy's. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** How a command ended. A non-zero exit is an ordinary outcome. */
export type ExecResult = (
  | { readonly status: 'exited'; readonly code: number }
  | { readonly status: 'signaled'; readonly signal: string }
  | { readonly status: 'timed-out'; readonly afterMs: number }
  | { readonly status: 'cancelled' }
) & {
  readonly durationMs: number
  readonly denials: readonly Denial[]
}

/** An access that the sandbox refused, known from evidence rather than from words in the output. */
export type Denial = {
  readonly kind: 'path' | 'host' | 'syscall' | 'limit' | 'quarantine'
  readonly subject: string
  /** The policy entry that refused it. */
  readonly rule: string
  readonly certainty: 'proven' | 'suspected'
  /** What a user could change to allow the access. */
  readonly remedy: Remedy
}

/** The pseudo-terminal of a running command. */
export type Terminal = {
  /** Reports a new size to the command's programs (SIGWINCH). Throws `RangeError` for an impossible size. */
  resize(size: TerminalSize): void
}

export type SandboxProcess = {
  readonly pid: number | undefined
  /** Present for `stdin: 'pipe'`, and for a terminal, where it takes the typed input. Ending it then types an end of input (control-D). */
  readonly stdin: Writable | undefined
  /** With a terminal: everything that the terminal shows. */
  readonly stdout: Readable
  /** With a terminal: empty, unless the command could not be started in it. */
  readonly stderr: Readable
  /** Present if the command asked for a terminal. */
  readonly terminal: Terminal | undefined
  /** Resolves once, when the command has ended and its output is drained. It never rejects because of what the command did. */
  readonly result: Promise<ExecResult>
  /** Ends the whole process tree: TERM, then KILL after a grace period. */
  kill(): void
}

/** A backend bound to one policy. It refuses, when opened, a policy that it can't enforce. */
export type Sandbox = {
  readonly backend: Backend
  readonly policy: SandboxPolicy
  /** Default limits that can't be enforced here, as sentences for a run's summary. Limits that a caller gives are enforced or refused. */
  readonly unenforced: readonly string[]
  /** The arguments that start Node inside the sandbox, for our own programs: they go before Node's options. */
  readonly node: readonly [string, ...string[]]
  /** The entries that the policy's paths mean, for sandboxes that are opened like this one. Absent: nothing is held. */
  readonly known?: () => KnownPlaces
  /** The shell that reads command lines inside: bash, if there is one. */
  readonly shell: Shell
  /** Throws `SandboxError` when the command can't be started (missing directory, missing program). */
  spawn(command: Command): SandboxProcess
  /**
   * Moves files that running commands have planted for the host to execute to quarantine, and reports them. It happens by itself when a command ends.
   * Call it each time output of a running command is passed on, and before a program outside the sandbox looks at the tree. It searches the
   * directories of the writable roots, not files: some microseconds for each. If nothing runs, it returns `[]` at once.
   */
  inspect(): Promise<readonly Denial[]>
  /** Releases everything that the backend holds (containers, proxies, temp dirs). Idempotent. */
  close(): Promise<void>
}
