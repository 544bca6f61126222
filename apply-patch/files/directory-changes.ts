import { lstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import process from 'node:process'
import type { ChangeSet, DirectoryChange } from '../change-set.ts'
import type { Directories } from './directories.ts'
import { CommitError, errnoOf } from './commit-error.ts'
import type { Cleared, ModeStep } from './commit-steps.ts'

/** The changes that a commit makes to directories themselves. */
export type DirectoryPlan = {
  /** Directories whose modes are set, parents first. */
  readonly modes: readonly ModeStep[]
  /** Directories to remove, with their present state. */
  readonly removed: readonly Cleared[]
}

/** The directories that a change set removes, parents first. */
export function removedDirectories(changeSet: ChangeSet): readonly string[] {
  return inOrder(changeSet, 'remove').map(({ key }) => key)
}

/**
 * Plans the changes that a change set makes to directories, and reads their present state.
 *
 * @param made the directories that the commit creates
 * @throws CommitError `changed` if a directory's mode has changed since the plan was made, or something else is in its place; `system` if this user may
 *   not set the mode of a directory
 */
export function planDirectories(
  changeSet: ChangeSet,
  made: readonly string[],
  directories: Directories,
): DirectoryPlan {
  const ours = new Set(made)
  const fresh = inOrder(changeSet, 'make').flatMap(({ key, mode }): readonly ModeStep[] =>
    mode === undefined || !ours.has(key) ? [] : [{ path: key, before: undefined, after: mode }],
  )
  const changed = inOrder(changeSet, 'mode').map(({ key, before, mode }): ModeStep => {
    const now = lookAtDirectory(key, directories)
    if (now.mode !== before) {
      throw new CommitError('changed', { operation: 'prepare', differences: [{ path: key, key, how: 'mode' }] })
    }
    // The mode is set when the commit can no longer fail, so it must be certain that this user may set it.
    const user = process.geteuid?.()
    if (user !== 0 && user !== now.uid) {
      throw new CommitError('system', { operation: 'write', path: key, key, errno: 'EPERM', syscall: 'chmod' })
    }
    return { path: key, before, after: mode }
  })
  const modes = [...fresh, ...changed].toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return { modes, removed: removedDirectories(changeSet).map((key) => lookAtDirectory(key, directories)) }
}

/** Whether there is a directory at a path. @throws CommitError `changed` if there is something else */
export function exists(directory: string, directories: Directories): boolean {
  try {
    directories.owner(directory)
    return true
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT') return false
    if (errno !== 'ENOTDIR' && errno !== 'ELOOP' && errno !== 'ESTALE') throw error
    // The path was a directory when the plan was made. Now it is a file, a link, or a different directory.
    const difference = { path: directory, key: directory, how: 'kind' as const }
    throw new CommitError('changed', { operation: 'prepare', differences: [difference], cause: error })
  }
}

/** The present state of a directory. @throws CommitError `changed` if it is no longer a directory */
export function lookAtDirectory(path: string, directories: Directories): Cleared {
  const stats = lstatSync(directories.entry(dirname(path), basename(path)), { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) {
    const difference = { path, key: path, how: 'kind' as const }
    throw new CommitError('changed', { operation: 'prepare', differences: [difference] })
  }
  const { mode, uid, gid } = stats
  return { path, mode: mode & 0o7777, uid, gid }
}

/** The directory changes of one type, with parents before the directories in them. */
function inOrder<Type extends DirectoryChange['type']>(
  { directories = [] }: ChangeSet,
  type: Type,
): readonly Extract<DirectoryChange, { type: Type }>[] {
  return directories
    .filter((change): change is Extract<DirectoryChange, { type: Type }> => change.type === type)
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
}
