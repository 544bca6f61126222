import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { decodeText, encodeText } from '../path-bytes.ts'

/** The mode of an entry that stands for a commit of another repository. */
const gitlink = '160000'
const link = '120000'

/**
 * Why the new commits that lead to certain commits must not land on a branch: one of them adds or changes an entry that would not land in the work tree, or refers to a
 * repository that the tree did not refer to before. Whoever checks such a commit out later would get that entry without any judgement.
 *
 * @param options.commits the commits
 * @param options.before the commit that was checked out when the run began; undefined if there was none
 * @param options.isProtected whether an entry, given by its path in the work tree, must not land
 * @returns undefined if all may land
 */
export function findFaultInCommits(
  git: HostGit,
  host: HeldDirectory,
  options: {
    readonly commits: readonly string[]
    readonly before: string | undefined
    readonly isProtected: (path: string, isLink?: boolean) => boolean
  },
): string | undefined {
  const { commits, before, isProtected } = options
  // With -m, a merge is compared with each of its parents.
  const words = [
    '-c',
    'log.showRoot=true',
    '-c',
    'diff.renames=false',
    'log',
    '--format=',
    '--raw',
    '--no-abbrev',
    '-m',
    '-z',
  ]
  const { ok, stdout, complaint } = git.run(host, [...words, '--stdin', '--not', '--all'], {
    input: encodeText(commits.map((each) => `${each}\n`).join('')),
  })
  if (!ok) return `git can\u2019t read its commits (${complaint.split('\n')[0] ?? ''})`
  let known: ReadonlySet<string> | undefined
  for (const { mode, path } of entriesOf(stdout)) {
    if (isProtected(path, mode === link)) return `a commit changes ${JSON.stringify(path)}, which never lands`
    if (mode !== gitlink) continue
    known ??= gitlinksOf(git, host, before)
    if (!known.has(path))
      return `a commit refers to the repository in ${JSON.stringify(path)}, and such references never land`
  }
  return undefined
}

/** The entries that the output of `git log --raw -z` says are there after a change, with their new modes. */
function* entriesOf(raw: Buffer): Iterable<{ readonly mode: string; readonly path: string }> {
  const fields = decodeText(raw).split('\0')
  for (const [at, field] of fields.entries()) {
    const mode = /^\n?:[0-7]{6} ([0-7]{6}) [0-9a-f]+ [0-9a-f]+ [A-Z]$/.exec(field)?.[1]
    if (mode !== undefined && mode !== '000000') yield { mode, path: fields[at + 1] ?? '' }
  }
}

function gitlinksOf(git: HostGit, host: HeldDirectory, commit: string | undefined): ReadonlySet<string> {
  if (commit === undefined) return new Set()
  const { stdout } = git.run(host, ['ls-tree', '-r', '-z', '--full-tree', commit])
  const entries = decodeText(stdout).split('\0')
  return new Set(entries.filter((each) => each.startsWith(gitlink)).map((each) => each.slice(each.indexOf('\t') + 1)))
}
