import { smallFile, type HeldGit } from './git-directories.ts'

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
  const textOf = (path: string): string | undefined => common.text(path, smallFile)?.replace(/\n$/, '')
  const inOwn = (path: string): string | undefined => own.text(path, smallFile)?.replace(/\n$/, '')
  const linked = (common.names('worktrees') ?? []).map((name) => (path: string) => textOf(`worktrees/${name}/${path}`))
  for (const read of [inOwn, textOf, ...linked]) {
    let head = targetOf(read('HEAD'))
    for (let links = 0; head !== undefined && links <= mostLinks; links += 1) {
      if (head === ref) return 'checked out'
      head = targetOf(textOf(head))
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
