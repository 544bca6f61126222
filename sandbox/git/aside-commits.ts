import type { HeldGit } from './git-directories.ts'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import type { RefChange } from './ref-changes.ts'
import { readRefs } from './refs.ts'
import { isNew, withObjects, type PackedObjects } from './store-commits.ts'

/** The maximum number of branches, tags, notes and stashes that are imported, and of remote branches that are compared with them. */
const [mostTips, mostRemotes] = [100, 500]

/**
 * A branch, a tag, notes or the stash of a view, with the full name of the ref and its value. `commit`: the commit that it leads to; undefined if it leads to
 * none. `branch`: a part of the name of the branch that can keep the commit.
 */
type Tip = {
  readonly ref: string
  readonly value: string
  readonly commit: string | undefined
  readonly branch: string
}

/**
 * `problem`: why some refs could not be imported. `isNew`: whether a tip's commit is neither in the repository, nor fetched, nor in `others`. `isFetched`:
 * whether a commit isn't in the repository, but was fetched.
 */
export type Aside = {
  readonly tips: readonly Tip[]
  readonly problem: string | undefined
  readonly isNew: (commit: string, others: readonly string[]) => boolean
  readonly isFetched: (commit: string) => boolean
}

/**
 * Finds the commits to which other branches, tags, notes and the stash of a view lead, and collects their objects. All names and objects come from commands, so
 * whatever can't be read or collected is left out, and the rest is still imported.
 *
 * @param left the view's git directory
 * @param options.commit the checked-out commit of the view; undefined if there is none
 * @param options.changes what the commands changed; undefined if that isn't known, and the repository itself shows what may be new
 * @param options.isWanted whether a ref is imported
 * @param options.withTags whether tag objects are collected, too, and refs that lead to no commit
 * @param options.objects the directory with the view's objects
 */
export async function importAside(
  packed: PackedObjects,
  host: HeldGit,
  left: HeldDirectory,
  {
    commit,
    changes,
    isWanted,
    withTags,
    objects,
  }: {
    readonly commit: string | undefined
    readonly changes: readonly RefChange[] | undefined
    readonly isWanted: (ref: string, value: string) => boolean
    readonly withTags: boolean
    readonly objects: string
  },
): Promise<Aside> {
  const { git } = packed
  const oidBytes = (commit?.length ?? 40) / 2
  const refs = [...(readRefs(left, oidBytes) ?? [])].filter(([, value]) => !value.startsWith('ref: '))
  const differing = differencesOf(refs, host, left, { changes, oidBytes }).filter((each) => isWanted(...each))
  // Branches come first, so that a commit gets the name of its branch rather than that of a tag.
  const branches = differing.filter(([name]) => name.startsWith('refs/heads/'))
  const all = [...branches, ...differing.filter((each) => !branches.includes(each))]
  const problems = all.length > mostTips ? [`only ${mostTips} branches and tags are imported`] : []
  const tips = all.slice(0, mostTips).flatMap(([ref, value]): readonly Tip[] => {
    const at = peeled(git, host.own, value, objects)
    return at === undefined && !withTags ? [] : [{ ref, value, commit: at, branch: suffixOf(ref) }]
  })
  const store = (some: readonly Tip[]): Promise<string | undefined> =>
    packed.add(some.map((tip) => (withTags ? tip.value : (tip.commit ?? tip.value))))
  const stored: Tip[] = []
  const isRefused = tips.length > 0 && (await store(tips)) !== undefined
  for (const tip of tips) {
    const why = isRefused ? await store([tip]) : undefined
    if (why === undefined) stored.push(tip)
    else problems.push(`${tip.branch}: ${why}`)
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
    isFetched: (tip) => isUnseen(tip, []) === true && isUnseen(tip, fetched) === false,
  }
}

/** The refs that differ from what the repository has, and that commands may have changed. */
function differencesOf(
  refs: readonly (readonly [string, string])[],
  host: HeldGit,
  left: HeldDirectory,
  { changes, oidBytes }: { readonly changes: readonly RefChange[] | undefined; readonly oidBytes: number },
): readonly (readonly [string, string])[] {
  const changed = changes && new Set(changes.map(({ name }) => name))
  const known = readRefs(host.common, oidBytes)
  return refs.filter(
    ([name, value]) =>
      /^refs\/(?:(?:heads|tags|notes)\/|stash$)/.test(name) &&
      known?.get(name) !== value &&
      (changed?.has(name) ?? mayBeNew(left, value)),
  )
}

/** The commit that a ref's value leads to; undefined if it leads to none. */
function peeled(git: HostGit, host: HeldDirectory, value: string, objects: string): string | undefined {
  const env = withObjects(objects)
  const { ok, stdout } = git.run(host, ['rev-parse', '--verify', '--quiet', `${value}^{commit}`], { env })
  return ok ? stdout.toString().trim() : undefined
}

/** Turns the name of a ref into a part of a branch's name: `branch-NAME`, `tag-NAME`, `notes-NAME` or `stash`. Different names may become the same. */
function suffixOf(ref: string): string {
  const [, kind = '', name = ''] = /^refs\/(heads|tags|notes|stash)\/?(.*)$/s.exec(ref) ?? []
  const plain = name
    .replace(/[^A-Za-z0-9._+=-]+/g, '-')
    .slice(0, 100)
    .replace(/(?:\.lock|\.)$/, '$&-')
  return kind === 'stash' ? 'stash' : `${{ heads: 'branch', tags: 'tag' }[kind] ?? kind}-${plain}`
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
