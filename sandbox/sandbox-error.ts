import type { Backend } from './backend.ts'
import { shareInstanceof } from './share-instanceof.ts'

/** The data that a `SandboxError` contains, depending on its `code`. The error's message is made from this data. */
export type SandboxErrorData = {
  /** The policy is invalid. `problems` contains the key of each wrong setting, and what was expected. */
  readonly 'invalid-policy': { readonly problems: readonly { readonly key: string; readonly expected: string }[] }
  /** The command can't be started exactly as it is given. `problems` contains each wrong part, and what was expected. */
  readonly 'invalid-command': { readonly problems: readonly { readonly key: string; readonly expected: string }[] }
  /** The requested backend, or every backend, is unable to enforce the policy here. */
  readonly unavailable: {
    readonly backend: Backend
    readonly reason: string
    readonly remedy: string
    /** Set if the policy isn't the reason: the backend can't start here at all. */
    readonly cannotStart?: true
  }
  readonly 'missing-directory': { readonly path: string; readonly role: string }
  /**
   * No usable program has this name. `outside` lists the directories that commands can write to: programs in them must not start with the caller's
   * own rights.
   */
  readonly 'missing-program': {
    readonly program: string
    readonly searched: readonly string[]
    readonly outside?: readonly string[]
  }
  /** The backend failed before the command started; `detail` is the backend's own message. */
  readonly 'setup-failed': { readonly backend: Backend; readonly detail: string }
  /** A path no longer leads to the entry that was planned for it, so nothing was run. */
  readonly 'path-changed': {
    readonly backend: Backend
    readonly path: string
    /**
     * Set if the user approved the expected entry, or if the entry existed when the run began. Not set if the entry was first seen when the mounts
     * were planned.
     */
    readonly approved?: true
  }
  readonly closed: { readonly backend: Backend }
}

export type SandboxErrorCode = keyof SandboxErrorData

/**
 * Thrown if a sandbox can't be opened or a command can't be started. The failure of a command itself is a result, never this error.
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

  /** Whether a caught value is a `SandboxError` with this code. TypeScript then knows the type of its `data`. */
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
    case 'invalid-command':
      return `the command can't be started as it is given: ${error.data.problems.map(({ key, expected }) => `${key} ${expected}`).join('; ')}`
    case 'unavailable':
      return `the ${error.data.backend} sandbox can't be used: ${error.data.reason}. ${error.data.remedy}`
    case 'missing-directory':
      return `${error.data.role} ${error.data.path} is not an existing directory`
    case 'missing-program':
      return describeMissingProgram(error.data)
    case 'setup-failed':
      return `the ${error.data.backend} sandbox failed before the command started: ${error.data.detail}`
    case 'path-changed':
      if (error.data.approved === true) {
        return `nothing was run: ${error.data.path} is no longer what was configured or approved. It has since been moved, removed or replaced, and access is granted to the file or directory itself, not to its name. Put it back, or name the path that you mean and ask again`
      }
      return `nothing was run: ${error.data.path} was moved or replaced while the ${error.data.backend} sandbox was being set up for this command, and only the planned entries may be mounted. Try again when nothing is renaming or replacing it`
    case 'closed':
      return `the ${error.data.backend} sandbox is closed: open a new one for further commands`
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
    : `${missing} that is outside ${outside.join(', ')}. A program that commands can change is never run with your rights`
}
