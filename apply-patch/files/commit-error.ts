import { shareInstanceof } from '../share-instanceof.ts'

/** Why a path of a patch can't be used. */
export type PathErrorCode =
  /** Leaves the root: absolute, through `..`, or through a link. */
  | 'outside-root'
  /** Under a `.git`, whose hooks and configuration a later command on the host would run. */
  | 'protected'
  /** Empty, with a NUL, not well-formed Unicode, or ending in a slash. */
  | 'invalid-path'
  /** Links that never end. */
  | 'link-loop'
  /** Something on the way is a file. */
  | 'not-a-directory'
  /** A name over 255 bytes or a path over 4,095. */
  | 'too-long'
  /** The system won't let us look; `errno` says why. */
  | 'unreadable'

/**
 * A path of a patch that is refused before anything is read or written through it.
 *
 * @example
 * try {
 *   await planWrite({ path: '../a.txt', content: Buffer.from('') }, { root: '.' })
 * } catch (error) {
 *   if (error instanceof PathError) console.error(error.code, error.path)
 * }
 */
export class PathError extends Error {
  readonly code: PathErrorCode
  /** As the patch spells it. */
  readonly path: string
  /** Where it really leads, as far as that is known. */
  readonly resolved: string | undefined
  /** The part of the path that is at fault: a component, a link, a file on the way. */
  readonly culprit: string | undefined
  readonly errno: string | undefined

  constructor(
    code: PathErrorCode,
    path: string,
    facts: { resolved?: string; culprit?: string; errno?: string; cause?: unknown } = {},
  ) {
    super(`${code}: ${path}`, { cause: facts.cause })
    this.name = 'PathError'
    this.code = code
    this.path = path
    this.resolved = facts.resolved
    this.culprit = facts.culprit
    this.errno = facts.errno
  }
}

shareInstanceof('PathError', PathError)

/**
 * A file that is there but can't be read.
 *
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n')
 * await planPatch(patch, { root: '.' }).catch((error: unknown) => {
 *   if (error instanceof ReadError) console.error(error.path, error.errno)
 * })
 */
export class ReadError extends Error {
  readonly code = 'unreadable'
  /** As the patch spells it. */
  readonly path: string
  /** Absolute. */
  readonly key: string
  readonly errno: string

  constructor(path: string, key: string, errno: string, cause: unknown) {
    super(`unreadable: ${key} (${errno})`, { cause })
    this.name = 'ReadError'
    this.path = path
    this.key = key
    this.errno = errno
  }
}

shareInstanceof('ReadError', ReadError)

/** What the commit was doing when it failed, as its user thinks of it. */
export type Operation = 'prepare' | 'write' | 'remove' | 'make-directory' | 'journal' | 'undo'

/** How a file differs from the state that the plan was made from. */
export type Difference = 'appeared' | 'vanished' | 'kind' | 'identity' | 'size' | 'time' | 'mode' | 'content'

export type CommitErrorCode =
  /** A file is not what the plan was made from. */
  | 'changed'
  /** A system call failed. */
  | 'system'
  /** The user may not write this file. */
  | 'read-only'
  /** The signal was aborted before the commit was complete. */
  | 'aborted'
  /** Another run has been working on the same root for too long. */
  | 'busy'
  /** No place outside the tree can hold the journal. */
  | 'no-state-directory'
  /** A change that can't be made: writing a directory, removing what isn't there. */
  | 'unsupported'
  /** A journal that can't be read, or whose crash can't be undone because a file was changed since. */
  | 'unrecoverable'
  /** There is no applied patch to take back. */
  | 'nothing-to-undo'

/** Everything a failed commit, recovery or undo knows about itself. */
export type CommitFacts = {
  readonly operation?: Operation
  /** As the patch spells it. */
  readonly path?: string
  /** Absolute. */
  readonly key?: string
  readonly errno?: string
  readonly syscall?: string
  readonly differences?: readonly { readonly path: string; readonly key: string; readonly how: Difference }[]
  /**
   * `unchanged`: every byte and mode is as before. `incomplete`: putting things back failed too; `remains` names
   * what isn't as it was, and the journal is kept for `recover`.
   */
  readonly tree?: 'unchanged' | 'incomplete'
  readonly remains?: readonly string[]
  readonly journal?: string
  /** Of `nothing-to-undo`: the nearest tree around this one that a patch was applied to. */
  readonly appliedTo?: string
  /** Of `nothing-to-undo`: patches were applied to another directory that was at this path before. */
  readonly replaced?: boolean
  /** Folders that were tried for the journal, each with the reason it can't serve. */
  readonly tried?: readonly { readonly path: string; readonly reason: string }[]
  readonly cause?: unknown
}

/**
 * A commit, recovery or undo that did not happen.
 *
 * @example
 * try {
 *   await undo('.')
 * } catch (error) {
 *   if (error instanceof CommitError) console.error(error.code, error.tree) // nothing-to-undo unchanged
 * }
 */
export class CommitError extends Error {
  readonly code: CommitErrorCode
  readonly facts: CommitFacts
  /** Whether the tree is as it was; see `CommitFacts.tree`. */
  readonly tree: 'unchanged' | 'incomplete'

  constructor(code: CommitErrorCode, facts: CommitFacts = {}) {
    super(
      [code, facts.operation, facts.key ?? facts.path, facts.errno].filter((part) => part !== undefined).join(' '),
      {
        cause: facts.cause,
      },
    )
    this.name = 'CommitError'
    this.code = code
    this.facts = facts
    this.tree = facts.tree ?? 'unchanged'
  }
}

shareInstanceof('CommitError', CommitError)

/** The errno name of a system error, e.g. `ENOENT`; undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return 'syscall' in error ? error.code : undefined
}

/** A failed system call with the facts of what was being done. Anything else is given back as it is. */
export function withFacts(error: unknown, facts: CommitFacts): unknown {
  const errno = errnoOf(error)
  if (errno === undefined) return error
  const syscall = error instanceof Error && 'syscall' in error ? { syscall: String(error.syscall) } : {}
  return new CommitError('system', { ...facts, errno, ...syscall, cause: error })
}
