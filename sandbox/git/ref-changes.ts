import { holdGit, readCheckedOut, type CheckedOut, type GitDirectories } from './git-directories.ts'
import { readRefs, sharedRefs } from './refs.ts'

/**
 * What is checked out in a repository, and the values of its refs, by full name, except those that belong to a single work tree. `refs` is undefined in a linked work tree, because there the refs belong to the repository itself.
 */
export type RepositoryState = CheckedOut & { readonly refs?: Readonly<Record<string, string>> | undefined }

/**
 * A difference between two states of a repository. `name` is the full name of a ref, or `HEAD` if something else is checked out: then `old` and `now` are the
 * full name of a branch, or a commit if no branch is checked out. `old` is undefined for a new ref, and `now` for one that was removed.
 */
export type RefChange = { readonly name: string; readonly old?: string | undefined; readonly now?: string | undefined }

/**
 * A ref that commands changed, but that stays as it is in the user's repository, and the reason. `HEAD` if something else was checked out. `command`: what a
 * person can run to change it.
 */
export type LeftRef = { readonly ref: string; readonly why: string; readonly command?: string }

/**
 * Reads the state of a repository, or of a linked work tree, without starting git.
 *
 * @returns undefined if the state can't be determined, for example because the refs are stored in reftables, or because there are too many
 * @internal
 */
export function readRepositoryState(git: GitDirectories): RepositoryState | undefined {
  const checkedOut = readCheckedOut(git)
  if (checkedOut === undefined) return undefined
  if (git.own !== git.common) return checkedOut
  const held = holdGit(git)
  if (held === undefined) return undefined
  try {
    const { commit } = checkedOut
    const found = readRefs(held.common, commit === undefined ? 20 : commit.length / 2)
    // If there is no checked-out commit, only the length of the refs' values shows which hash algorithm the repository uses.
    const refs = commit === undefined && found?.size === 0 ? readRefs(held.common, 32) : found
    if (refs === undefined) return undefined
    return { ...checkedOut, refs: Object.fromEntries(sharedRefs(refs)) }
  } finally {
    held.close()
  }
}

/**
 * Finds the differences between two states of a repository or of a linked work tree.
 *
 * @param options.except names of branches that don't count, because they are checked out in linked work trees, which are compared separately
 * @param options.isRemovalKnown whether a ref that is only in `before` has certainly been removed. Otherwise it doesn't count, because it may be new
 * @internal
 */
export function changesBetween(
  before: RepositoryState,
  now: RepositoryState,
  { except, isRemovalKnown }: { readonly except: ReadonlySet<string>; readonly isRemovalKnown: boolean },
): readonly RefChange[] {
  const [was, is] = [before.branch ?? before.commit, now.branch ?? now.commit]
  const head = was === is ? [] : [{ name: 'HEAD', old: was, now: is }]
  const [old, last] = [before.refs, now.refs]
  if (old === undefined || last === undefined) {
    const isMoved = now.branch !== undefined && was === is && before.commit !== now.commit
    return isMoved ? [{ name: now.branch, old: before.commit, now: now.commit }] : head
  }
  const names = new Set([...Object.keys(last), ...(isRemovalKnown ? Object.keys(old) : [])])
  const differing = [...names].filter((name) => old[name] !== last[name] && !except.has(name)).toSorted()
  return [...head, ...differing.map((name) => ({ name, old: old[name], now: last[name] }))]
}
