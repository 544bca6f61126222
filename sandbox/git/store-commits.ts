import { Readable } from 'node:stream'
import { quotePath } from './alternates.ts'
import { commitOf, holdGit, type GitDirectories } from './git-directories.ts'
import type { HeldDirectory } from './held-directory.ts'
import { locateHostGit, type HostGit } from './host-git.ts'

/**
 * Whether a directory with objects contains anything but files and directories. Git would wait for ever at a pipe, and follow a link out of the view.
 */
export function hasOddEntries(common: HeldDirectory, path = 'objects', depth = 0): boolean {
  const entries = common.entries(path)
  if (entries === undefined || depth > 3) return true
  return [...entries].some(
    ([name, { kind }]) =>
      kind !== 'file' && (kind !== 'directory' || hasOddEntries(common, `${path}/${name}`, depth + 1)),
  )
}

/**
 * Whether a commit can be reached neither from a ref of the repository nor from the commits in `others`. Undefined if git can't read one of them.
 *
 * @param objects the directory with a view's objects, if git needs them, too
 */
export function isNew(
  git: HostGit,
  host: HeldDirectory,
  commit: string,
  others: readonly string[] = [],
  objects?: string,
): boolean | undefined {
  const words = ['rev-list', '-n', '1', commit, '--not', '--all', ...others]
  const { ok, stdout } = git.run(host, words, objects === undefined ? {} : { env: withObjects(objects) })
  return ok ? stdout.length > 0 : undefined
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
    git.run(host, ['rev-parse', '--is-shallow-repository']).stdout.toString().trim() === 'true' ? [] : ['--strict']
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
export function withObjects(objects: string): Readonly<Record<string, string>> {
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(objects) }
}
