import type { HeldGit } from './git-directories.ts'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { readRefs } from './refs.ts'
import { isNew, storeObjects, withObjects } from './store-commits.ts'

/** The maximum number of branches, tags and stashes whose commits are imported, and of remote branches that are compared with them. */
const [mostTips, mostRemotes] = [100, 500]

/** The commit that a branch, a tag or the stash leads to. `name` is for the name of the branch that will point to it. */
type Tip = { readonly name: string; readonly commit: string }

/** `problem`: why some commits could not be imported. `isNew`: whether a tip's commit is neither in the repository, nor fetched, nor in `others`. */
type Aside = {
  readonly tips: readonly Tip[]
  readonly problem: string | undefined
  readonly isNew: (commit: string, others: readonly string[]) => boolean
}

/**
 * Finds the commits to which other branches, tags and the stash of a view lead, and lets git store them. All names and objects come from commands, so
 * whatever can't be read or stored is left out without preventing the rest.
 *
 * @param left the view's git directory
 * @param commit the checked-out commit of the view. Refs that lead to it are left out
 * @param objects the directory with the view's objects
 */
export async function importAside(
  git: HostGit,
  host: HeldGit,
  left: HeldDirectory,
  { commit, objects }: { readonly commit: string; readonly objects: string },
): Promise<Aside> {
  const known = readRefs(host.common, commit.length / 2)
  const refs = [...(readRefs(left, commit.length / 2) ?? [])].filter(([, value]) => !value.startsWith('ref: '))
  const differing = refs.filter(
    ([name, value]) =>
      /^refs\/(?:(?:heads|tags)\/|stash$)/.test(name) &&
      value !== commit &&
      known?.get(name) !== value &&
      mayBeNew(left, value),
  )
  // Branches come first, so that a commit gets the name of its branch rather than that of a tag.
  const branches = differing.filter(([name]) => name.startsWith('refs/heads/'))
  const all = [...branches, ...differing.filter((each) => !branches.includes(each))]
  const problems = all.length > mostTips ? [`only ${mostTips} branches and tags are imported`] : []
  const tips = all.slice(0, mostTips).flatMap(([name, value]): readonly Tip[] => {
    const at = peeled(git, host.own, value, objects)
    return at === undefined || at === commit ? [] : [{ name: suffixOf(name), commit: at }]
  })
  const store = (commits: readonly string[]): Promise<string | undefined> =>
    storeObjects(git, host.own, { commits, objects })
  const stored: Tip[] = []
  const isRefused = tips.length > 0 && (await store(tips.map((tip) => tip.commit))) !== undefined
  for (const tip of tips) {
    const why = isRefused ? await store([tip.commit]) : undefined
    if (why === undefined) stored.push(tip)
    else problems.push(`${tip.name}: ${why}`)
  }
  const remotes = refs.filter(([name]) => name.startsWith('refs/remotes/')).slice(0, mostRemotes)
  const fetched = remotes.map(([, value]) => value)
  const isUnseen = (tip: string, others: readonly string[]): boolean | undefined =>
    isNew(git, host.own, tip, others, objects)
  return {
    tips: stored,
    problem: problems.length === 0 ? undefined : problems.slice(0, 3).join('; '),
    // If what was fetched can't be read, it isn't known what is new, and all that the repository doesn't have counts.
    isNew: (tip, others) => isUnseen(tip, [...others, ...fetched]) ?? isUnseen(tip, others) === true,
  }
}

/** The commit that a ref's value leads to; undefined if it leads to none. */
function peeled(git: HostGit, host: HeldDirectory, value: string, objects: string): string | undefined {
  const env = withObjects(objects)
  const { ok, stdout } = git.run(host, ['rev-parse', '--verify', '--quiet', `${value}^{commit}`], { env })
  return ok ? stdout.toString().trim() : undefined
}

/** Turns the name of a ref into a part of a branch's name: `branch-NAME`, `tag-NAME` or `stash`. Different names may become the same. */
function suffixOf(ref: string): string {
  const [, kind, name = ''] = /^refs\/(heads|tags|stash)\/?(.*)$/s.exec(ref) ?? []
  const plain = name
    .replace(/[^A-Za-z0-9._+=-]+/g, '-')
    .slice(0, 100)
    .replace(/(?:\.lock|\.)$/, '$&-')
  return kind === 'stash' ? 'stash' : `${kind === 'heads' ? 'branch' : 'tag'}-${plain}`
}

/**
 * Whether the commands may have made or fetched an object. The view's own objects are those that were added since it was made, so an object that isn't
 * among them was in the repository then, on a branch that somebody has removed since.
 */
function mayBeNew(common: HeldDirectory, oid: string): boolean {
  return (
    (common.names('objects/pack') ?? []).length > 0 ||
    common.stat(`objects/${oid.slice(0, 2)}/${oid.slice(2)}`) !== undefined
  )
}
