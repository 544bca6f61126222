import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { commitOf, holdGit, type GitDirectories, type HeldGit } from './git-directories.ts'
import type { HeldDirectory } from './held-directory.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { readRefs } from './refs.ts'

/** The maximum number of branches, tags and stashes, apart from the checked-out commit, whose commits are imported. */
const mostTips = 100

/** The commit that a branch, a tag or the stash leads to. `name` has no `refs/heads/`, `refs/tags/` or `refs/`. */
type Tip = { readonly name: string; readonly commit: string }

/**
 * Finds the branches, tags and stashes of a view that differ from those of the repository.
 *
 * @param commit the checked-out commit of the view. Refs that lead to it are left out
 * @param objects the directory with the view's objects
 */
export function tipsAside(
  git: HostGit,
  host: HeldGit,
  from: GitDirectories,
  commit: string,
  objects: string,
): readonly Tip[] {
  const left = holdGit(from)
  if (left === undefined) return []
  try {
    const [known, refs] = [host, left].map(
      ({ common }) => readRefs(common, commit.length / 2) ?? new Map<string, string>(),
    )
    const differing = [...(refs ?? [])].filter(
      ([name, value]) =>
        /^refs\/(?:(?:heads|tags)\/|stash$)/.test(name) &&
        !value.startsWith('ref: ') &&
        value !== commit &&
        known?.get(name) !== value,
    )
    // Branches come first, so that a commit gets the name of its branch rather than that of a tag.
    const branches = differing.filter(([name]) => name.startsWith('refs/heads/'))
    const tips = [...branches, ...differing.filter((each) => !branches.includes(each))]
    return tips.slice(0, mostTips).flatMap(([name, value]): readonly Tip[] => {
      const peeled = git.run(host.own, ['rev-parse', '--verify', '--quiet', `${value}^{commit}`], {
        env: withObjects(objects),
      })
      const at = peeled.stdout.toString('latin1').trim()
      return peeled.ok && at !== commit && mayBeNew(objects, at)
        ? [{ name: name.replace(/^refs\/(?:heads\/|tags\/)?/, ''), commit: at }]
        : []
    })
  } finally {
    left.close()
  }
}

/**
 * Whether the commands may have made or fetched a commit. The view's own objects are those that were added since it was made, so a commit that isn't
 * among them was in the repository then, on a branch that somebody has removed since.
 */
function mayBeNew(objects: string, commit: string): boolean {
  const packs = join(objects, 'pack')
  const isPacked = existsSync(packs) && readdirSync(packs).length > 0
  return isPacked || existsSync(join(objects, commit.slice(0, 2), commit.slice(2)))
}

/** Whether a stored commit can't be reached from any ref of the repository, nor from the commits in `others`. */
export function isNew(git: HostGit, host: HeldDirectory, commit: string, others: readonly string[] = []): boolean {
  return git.run(host, ['rev-list', '-n', '1', commit, '--not', '--all', ...others]).stdout.length > 0
}

/** Lets git store commits and all objects that they need. @returns the reason if git can't store them */
export async function storeObjects(
  git: HostGit,
  host: HeldDirectory,
  { commits, objects }: { readonly commits: readonly string[]; readonly objects: string },
): Promise<string | undefined> {
  const env = withObjects(objects)
  const fresh = git.run(host, ['rev-list', '--objects', ...commits, '--not', '--all'], { env })
  if (!fresh.ok) return fresh.complaint
  if (fresh.stdout.length === 0) return undefined
  const pack = git.run(host, ['pack-objects', '-q', '--stdout'], { env, input: fresh.stdout })
  if (!pack.ok) return pack.complaint
  const strict =
    git.run(host, ['rev-parse', '--is-shallow-repository']).stdout.toString('latin1').trim() === 'true'
      ? []
      : ['--strict']
  const words = ['index-pack', '--stdin', '--fsck-objects', ...strict]
  const stored = await git.feed(host, words, Readable.from([pack.stdout], { objectMode: false }))
  return stored.ok ? undefined : stored.complaint
}

/**
 * Whether a branch, given by its full name, contains a commit. False if no git can be trusted.
 *
 * @internal
 */
export function hasCommit(options: {
  readonly git: GitDirectories
  readonly roots: readonly string[]
  readonly branch: string
  readonly commit: string
}): boolean {
  const [host, git] = [holdGit(options.git), locateHostGit(options.roots)]
  try {
    const at = host && commitOf(host.common, options.branch)
    if (host === undefined || git === undefined || at === undefined) return false
    return at === options.commit || git.run(host.own, ['merge-base', '--is-ancestor', options.commit, at]).ok
  } finally {
    host?.close()
  }
}

/** The environment with which git also finds the objects of a view. */
function withObjects(objects: string): Readonly<Record<string, string>> {
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replace(/["\\]/g, '\\$&')}"` }
}
