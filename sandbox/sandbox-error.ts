import type { Backend } from './backend.ts'
import { shareInstanceof } from './share-instanceof.ts'

/** What each refusal of the sandbox carries. The code is the tag; sentences are made from the data. */
export type SandboxErrorData = {
  /** The policy given is not one: every problem with its place in the input. */
  readonly 'invalid-policy': { readonly problems: readonly { readonly key: string; readonly expected: string }[] }
  /** No backend, or not the one asked for, can enforce the policy here. */
  readonly unavailable: {
    readonly backend: Backend
    readonly reason: string
    readonly remedy: string
    /** Set where it isn't this policy: the backend can't start here at all. */
    readonly cannotStart?: true
  }
  readonly 'missing-directory': { readonly path: string; readonly role: string }
  /** `outside`: commands can write there, so what lies there is not started with the caller's own rights. */
  readonly 'missing-program': {
    readonly program: string
    readonly searched: readonly string[]
    readonly outside?: readonly string[]
  }
  /** The backend broke before the command started; `detail` is what it said. */
  readonly 'setup-failed': { readonly backend: Backend; readonly detail: string }
  /** What lies at a path of the plan is not what was planned any more, so nothing was run. */
  readonly 'path-changed': {
    readonly backend: Backend
    readonly path: string
    /** Set where it isn't what was approved, or what the run began with, whatever is planned. */
    readonly approved?: true
  }
  readonly closed: { readonly backend: Backend }
  /** What a killed run's commands may have planted can't be looked through; `directory` is the run's, which says what it owed. */
  readonly unreviewed: { readonly directory: string; readonly detail: string }
}

export type SandboxErrorCode = keyof SandboxErrorData

/**
 * Thrown when a sandbox can't be opened or a command can't be started. What a command does is a result, never this.
 *
 * @example
 * try {
 *   parsePolicy({ mode: 'no-such-mode', workspace: '/' })
 * } catch (error) {
 *   if (SandboxError.is(error, 'invalid-policy')) console.error(error.data.problems)
 * }
 */
export class SandboxError<Code extends SandboxErrorCode = SandboxErrorCode> extends Error {
  override readonly name = 'SandboxError'
  readonly code: Code
  readonly data: SandboxErrorData[Code]

  constructor(code: Code, data: SandboxErrorData[Code], options?: ErrorOptions) {
    super(describe({ code, data } as Described), options)
    this.code = code
    this.data = data
  }

  /** Narrows a caught value to this error with one code, so that `data` has its type. */
  static is<C extends SandboxErrorCode>(error: unknown, code: C): error is SandboxError<C> {
    return error instanceof SandboxError && error.code === code
  }
}

shareInstanceof('SandboxError', SandboxError)

type Described = { [C in SandboxErrorCode]: { code: C; data: SandboxErrorData[C] } }[SandboxErrorCode]

function describe(error: Described): string {
  switch (error.code) {
    case 'invalid-policy':
      return `sandbox policy: ${error.data.problems.map(({ key, expected }) => (key === '' ? expected : `${key}: ${expected}`)).join('; ')}`
    case 'unavailable':
      return `the ${error.data.backend} sandbox can't be used: ${error.data.reason}. ${error.data.remedy}`
    case 'missing-directory':
      return `${error.data.role} ${error.data.path} is not an existing directory`
    case 'missing-program':
      return describeMissingProgram(error.data)
    case 'setup-failed':
      return `the ${error.data.backend} sandbox broke before the command started: ${error.data.detail}`
    case 'path-changed':
      if (error.data.approved === true) {
        return `nothing was run: ${error.data.path} is no longer what was approved. It was moved, removed or replaced since, and an approval holds for what was there, not for its name. Put it back, or name the place that is meant and ask again`
      }
      return `nothing was run: ${error.data.path} was moved or replaced while the ${error.data.backend} sandbox was made for this command, and what was planned is what is mounted. Try again when nothing renames or replaces it`
    case 'closed':
      return `the ${error.data.backend} sandbox is closed: open a new one for further commands`
    case 'unreviewed':
      return `a run was killed while its commands ran, and what they may have planted could not be reviewed: ${error.data.detail}. Mend that; or look through the worktree's git hooks and configuration yourself, and then remove ${error.data.directory}`
    default:
      return error satisfies never
  }
}

function describeMissingProgram({ program, searched, outside = [] }: SandboxErrorData['missing-program']): string {
  const missing =
    searched.length === 0
      ? `${program} is not an executable file`
      : `no executable named ${program} in ${searched.join(':')}`
  return outside.length === 0
    ? missing
    : `${missing} that lies outside of ${outside.join(', ')}: what commands can write is not started with your rights`
}
