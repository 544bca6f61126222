import { smallFile, type HeldGit } from './git-directories.ts'
import type { HeldDirectory } from './held-directory.ts'

/** How many symbolic refs are followed from HEAD. Git itself follows five. */
const mostLinks = 5

/** The files in which git names the branch that it moves when a rebase is complete. */
const rebased = ['rebase-merge/head-name', 'rebase-apply/head-name']

/**
 * What the work trees of a repository do with a branch, given by its full name. Git moves such a branch itself, or expects that nobody else moves it, so
 * `git branch -f` refuses to do so.
 *
 * @returns undefined if no work tree uses the branch
 * @internal
 */
export function branchUse(
  { own, common }: HeldGit,
  ref: string,
): 'checked out' | 'being rebased' | 'being bisected' | undefined {
  const reader =
    (from: HeldDirectory, folder = '') =>
    (path: string): string | undefined =>
      from.text(`${folder}${path}`, smallFile)?.replace(/\n$/, '')
  const shared = reader(common)
  const linked = (common.names('worktrees') ?? []).map((name) => reader(common, `worktrees/${name}/`))
  for (const read of [...(own === common ? [] : [reader(own)]), shared, ...linked]) {
    let head = targetOf(read('HEAD'))
    for (let links = 0; head !== undefined && links <= mostLinks; links += 1) {
      if (head === ref) return 'checked out'
      head = targetOf(shared(head))
    }
    const updated = read('rebase-merge/update-refs')?.split('\n') ?? []
    if (rebased.some((file) => read(file) === ref) || updated.includes(ref)) return 'being rebased'
    const start = read('BISECT_START')
    if (start === ref || `refs/heads/${start}` === ref) return 'being bisected'
  }
  return undefined
}

function targetOf(text: string | undefined): string | undefined {
  return /^ref: *(refs\/.+)$/s.exec(text ?? '')?.[1]
}
