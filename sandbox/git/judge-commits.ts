import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { treeOf } from './plan-staging.ts'
import { decodeText, encodeText } from '../path-bytes.ts'

/** The mode of an entry that stands for a commit of another repository. */
const gitlink = '160000'
const link = '120000'
const nothing = '000000'

/**
 * Says why an entry of the work tree, given by its path in it, must not land in a tree with these links, whose targets are given by their paths; undefined if it
 * may.
 */
export type ProtectedIn = (
  links: ReadonlyMap<string, string>,
) => (path: string, change?: 'link' | 'removal') => string | undefined

/**
 * Why certain commits must not land on a branch: one of those that `before` doesn't have adds or changes an entry that would not land in the work tree, or refers to
 * a repository that the tree did not refer to before. Whoever checks such a commit out later would get that entry without any judgement. Commits that other refs of
 * the repository have are judged, too: these may come from anybody.
 *
 * @param options.commits the commits
 * @param options.before the commit that was checked out when the run began; undefined if there was none
 * @returns undefined if all may land
 */
export function findFaultInCommits(
  git: HostGit,
  host: HeldDirectory,
  options: {
    readonly commits: readonly string[]
    readonly before: string | undefined
    readonly protectedIn: ProtectedIn
  },
): string | undefined {
  const { commits, before, protectedIn } = options
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
  ]
  const range = [...commits, ...(before === undefined ? [] : [`^${before}`])]
  const { ok, stdout, complaint } = git.run(host, [...words, '-z', '--stdin'], {
    input: encodeText(range.map((each) => `${each}\n`).join('')),
  })
  if (!ok) return `git can\u2019t read its commits (${complaint.split('\n')[0] ?? ''})`
  const known: ReadonlyMap<string, string> = before === undefined ? new Map() : treeOf(git, host, before)
  const entries = [...entriesOf(stdout)]
  // Without `before`, the history has all entries of the trees.
  const tips = before === undefined ? [] : commits.map((commit) => treeOf(git, host, commit))
  const whyProtected = protectedIn(linksIn(git, host, [...known, ...entries, ...tips.flatMap((tree) => [...tree])]))
  for (const [path, entry] of entries) {
    // Whoever checked `before` out has this entry already.
    if (known.get(path) === entry) continue
    const isRemoval = entry.startsWith(nothing)
    // What one side of a merge never had isn't removed by the merge.
    if (isRemoval && !known.has(path)) continue
    const why = whyProtected(path, isRemoval ? 'removal' : entry.startsWith(link) ? 'link' : undefined)
    if (why !== undefined) return `a commit changes ${JSON.stringify(path)}, which ${why}`
    if (entry.startsWith(gitlink) && known.get(path)?.startsWith(gitlink) !== true)
      return `a commit refers to the repository in ${JSON.stringify(path)}, and such references never land`
  }
  return undefined
}

/** The path of an entry, and its mode and object. */
type Entry = readonly [path: string, entry: string]

/** The entries that the output of `git log --raw -z` says are there after a change: their paths, and their new modes and objects, which are zeros if they are removed. */
function* entriesOf(raw: Buffer): Iterable<Entry> {
  const fields = decodeText(raw).split('\0')
  for (const [at, field] of fields.entries()) {
    const [, mode = '', oid = ''] = /^\n?:[0-7]{6} ([0-7]{6}) [0-9a-f]+ ([0-9a-f]+) [A-Z]$/.exec(field) ?? []
    if (mode !== '') yield [fields[at + 1] ?? '', `${mode} ${oid}`]
  }
}

/** The links among entries, and where they lead. Of several at one path, the last counts. */
function linksIn(git: HostGit, host: HeldDirectory, entries: readonly Entry[]): ReadonlyMap<string, string> {
  const links = new Map(entries.filter(([, entry]) => entry.startsWith(link)))
  if (links.size === 0) return links
  const oids = [...new Set([...links.values()].map((entry) => entry.slice(link.length + 1)))]
  const { stdout } = git.run(host, ['cat-file', '--batch'], {
    input: encodeText(oids.map((oid) => `${oid}\n`).join('')),
  })
  const targets = new Map<string, string>()
  for (let at = 0; at < stdout.length;) {
    const from = stdout.indexOf(10, at) + 1
    const [oid = '', , size] = decodeText(stdout.subarray(at, from - 1)).split(' ')
    at = from
    // There is no size if the object is missing.
    if (size === undefined) continue
    targets.set(oid, decodeText(stdout.subarray(from, from + Number(size))))
    at += Number(size) + 1
  }
  return new Map([...links].map(([path, entry]) => [path, targets.get(entry.slice(link.length + 1)) ?? '']))
}
