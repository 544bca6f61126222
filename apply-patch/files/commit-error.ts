import { shareInstanceof } from '../share-instanceof.ts'

/** Why a path in a patch can't be used. */
export type PathErrorCode =
  /** The path leads out of the root: it is absolute, contains `..`, or passes through a link. */
  | 'outside-root'
  /** The path leads to git's own data, such as hooks and configuration that a later git command on the host would use. */
  | 'protected'
  /** The path is empty, contains a NUL, is not well-formed Unicode, or ends in `/` or `/.`. */
  | 'invalid-path'
  /** The path passes through more than 40 links, usually because they form a loop. */
  | 'link-loop'
  /** The root, or a parent of the path, is not a directory. */
  | 'not-a-directory'
  /** A name is longer than 255 bytes, or the path is longer than 4,095. */
  | 'too-long'
  /** The system can't access the path, or the root is missing; `errno` says why. */
  | 'unreadable'

/**
 * An error for a path in a patch. It is thrown before anything is read or written through that path.
 *
 * @example
 * try {
 *   openTree('.', { unsafePaths: false }).locate('../a.txt')
 * } catch (error) {
 *   if (error instanceof PathError) console.error(error.code, error.path) // outside-root ../a.txt
 * }
 */
export class PathError extends Error {
  readonly code: PathErrorCode
  /** The path, as the patch spells it. */
  readonly path: string
  /** The real path to which the path leads, if that is known. */
  readonly resolved: string | undefined
  /** The part of the path that causes the problem, such as a symlink, or a file where a directory is needed. */
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
 * The error for a file that exists but can't be read.
 *
 * @example
 * const tree = openTree('.', { unsafePaths: false })
 * try {
 *   tree.read(tree.locate('a.txt'))
 * } catch (error) {
 *   if (error instanceof ReadError) console.error(error.path, error.errno)
 * }
 */
export class ReadError extends Error {
  readonly code = 'unreadable'
  /** The path, as the patch spells it. */
  readonly path: string
  /** The absolute path. */
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

/** What the commit was doing when it failed, in terms that a user understands. */
export type Operation = 'prepare' | 'write' | 'remove' | 'make-directory' | 'journal' | 'undo'

/** How a file differs from the state that the plan was made from. */
export type Difference = 'appeared' | 'vanished' | 'kind' | 'identity' | 'size' | 'time' | 'mode' | 'owner' | 'content'

export type CommitErrorCode =
  /** A file has changed since the plan was made. */
  | 'changed'
  /** A system call failed. */
  | 'system'
  /** The user may not write this file. */
  | 'read-only'
  /** The signal was aborted before the commit was complete. */
  | 'aborted'
  /** Another run was still working on the same root when the time limit for waiting was reached. */
  | 'busy'
  /** No directory can store the journal. */
  | 'no-state-directory'
  /** The change is impossible: for example, it would write to a directory or remove a missing file. */
  | 'unsupported'
  /** A journal can't be read, or its commit can't be recovered, for example because a file has changed since the crash. */
  | 'unrecoverable'
  /** There is no applied patch to revert, or the last one isn't the one to revert. */
  | 'nothing-to-undo'

/** The facts about a failed commit, recovery or undo. */
export type CommitFacts = {
  readonly operation?: Operation
  /** The path, as the patch spells it. */
  readonly path?: string
  /** The absolute path. */
  readonly key?: string
  readonly errno?: string
  /**
   * Why this user may not remove or rename the file, although the user may create files next to it. `sticky`: it belongs to another user, and its
   * directory is sticky. `fixed`: it or its directory is append-only or immutable. `listed`: it has an access control list, and no program here can give
   * one to a new file.
   */
  readonly held?: 'sticky' | 'fixed' | 'listed'
  readonly syscall?: string
  readonly differences?: readonly { readonly path: string; readonly key: string; readonly how: Difference }[]
  /**
   * `unchanged`: every byte and mode is as before. `incomplete`: restoring the tree failed too; `remains` names the files that aren't restored, and
   * the journal is kept for `recover`.
   */
  readonly tree?: 'unchanged' | 'incomplete'
  /** Temporary files of the commit that can't be removed, although everything else is as before. */
  readonly leftOver?: readonly string[]
  readonly remains?: readonly string[]
  readonly journal?: string
  /**
   * For `nothing-to-undo`: another path of this same directory (such as a bind mount) under which a patch was applied or, failing that, the nearest
   * enclosing directory to which a patch was applied; undefined if there is neither.
   */
  readonly appliedTo?: string
  /** For `nothing-to-undo`: whether patches were applied to another directory that was at this path before. */
  readonly replaced?: boolean
  /** For `busy`: the process id of the other run; undefined if that run is in another container. */
  readonly process?: number | undefined
  /** Folders that were tried for the journal, and why each can't be used. */
  readonly tried?: readonly { readonly path: string; readonly reason: string }[]
  readonly cause?: unknown
}

/**
 * The error for a commit, recovery or undo that did not happen.
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
  /** The state of the tree after the failure; see `CommitFacts.tree`. */
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

/** Turns a failed system call into an error with facts about the operation. An error that doesn't come from a system call is returned unchanged. */
export function withFacts(error: unknown, facts: CommitFacts): unknown {
  const errno = errnoOf(error)
  if (errno === undefined) return error
  const syscall = error instanceof Error && 'syscall' in error ? { syscall: String(error.syscall) } : {}
  return new CommitError('system', { ...facts, errno, ...syscall, cause: error })
}
