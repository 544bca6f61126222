import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { encodePath, encodeText } from '../path-bytes.ts'
import { parseRef, refInPacked } from './refs.ts'

/**
 * The directories in which git stores the data of a work tree: `own` has its HEAD and index; `common` has the refs and objects that all work trees of
 * a repository share. Both are the same directory unless the work tree is a linked one. The paths are absolute and without symlinks.
 */
export type GitDirectories = { readonly own: string; readonly common: string }

/**
 * The full name of the checked-out branch, and the checked-out commit. `branch` is undefined if no branch is checked out; `commit` is undefined if
 * the branch has no commits.
 */
export type CheckedOut = { readonly branch: string | undefined; readonly commit: string | undefined }

/** Both of git's directories, kept open. */
export type HeldGit = { readonly own: HeldDirectory; readonly common: HeldDirectory; readonly close: () => void }

export const [smallFile, largestPacked] = [4096, 256 * 1024 * 1024]

/** Opens git's directories; undefined if one of them is missing, isn't a directory, or can't be opened. */
export function holdGit({ own, common }: GitDirectories): HeldGit | undefined {
  const held: HeldDirectory[] = []
  const close = (): void => held.forEach((each) => each.close())
  try {
    held.push(holdDirectory(encodePath(own)))
    if (common !== own) held.push(holdDirectory(encodePath(common)))
    const [first, second = first] = held
    return first === undefined || second === undefined ? undefined : { own: first, common: second, close }
  } catch {
    close()
    return undefined
  }
}

/**
 * Reads the checked-out branch and commit without starting git. Returns undefined if they can't be determined, for example because the refs are
 * stored in reftables.
 *
 * @internal
 */
export function readCheckedOut(git: GitDirectories): CheckedOut | undefined {
  const held = holdGit(git)
  if (held === undefined) return undefined
  try {
    const head = headOf(held.own)
    const branch = /^ref: (refs\/heads\/.+)$/s.exec(head ?? '')?.[1]
    if (branch !== undefined && branch !== 'refs/heads/.invalid') {
      return { branch, commit: commitOf(held.common, branch) }
    }
    return head !== undefined && isCommit(head) ? { branch: undefined, commit: head } : undefined
  } finally {
    held.close()
  }
}

/** The text of the file HEAD in a work tree's own git directory; undefined if the file can't be read. */
export function headOf(own: HeldDirectory): string | undefined {
  return own.text('HEAD', smallFile)?.replace(/\n$/, '')
}

/** The commit that a ref points to; undefined if there is none, or if the ref points to a different ref. */
export function commitOf(common: HeldDirectory, ref: string): string | undefined {
  const loose = common.text(ref, smallFile)?.replace(/\n$/, '')
  if (loose !== undefined) {
    const value = parseRef(encodeText(loose), loose.length / 2)
    return value !== undefined && isCommit(value) ? value : undefined
  }
  return refInPacked(common.read('packed-refs', largestPacked), ref)
}

const isCommit = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
