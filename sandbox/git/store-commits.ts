import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { existsSync, realpathSync } from '../host-paths.ts'
import { encodePath } from '../path-bytes.ts'
import { quotePath } from './alternates.ts'
import { commitOf, holdGit, type GitDirectories } from './git-directories.ts'
import type { GitWrite } from './git-writes.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
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

/** Objects that git has checked and packed for a repository. They are stored outside it, so the repository doesn't change until `files` are written. */
export type PackedObjects = {
  /** Git, which finds these objects in addition to those of the repository. */
  readonly git: HostGit
  /** Lets git check and pack objects, and all others that they need. @returns the reason if git can't */
  add(oids: readonly string[]): Promise<string | undefined>
  /** Returns the pack files, in the order in which they must be written, and the directory to write them to. */
  files(): { readonly within: string; readonly writes: readonly GitWrite[] }
  /** Removes the packs. */
  close(): void
}

/** The maximum size of a pack that a repository already has under the same name. */
const largestPack = 2 ** 31 - 1

/**
 * Collects objects of a view for the repository `host`, without writing to it.
 *
 * @param objects the directory with the view's objects
 * @throws the errors of realpath(3) if the repository has no directory for objects
 */
export function packObjects(
  plain: HostGit,
  host: HeldDirectory,
  { to, objects }: { readonly to: GitDirectories; readonly objects: string },
): PackedObjects {
  const own = realpathSync(join(to.common, 'objects'))
  const kept = join(own, 'pack')
  const within = existsSync(kept) ? realpathSync(kept) : kept
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-objects-'))
  const packs = join(folder, 'pack')
  mkdirSync(packs)
  const git: HostGit = {
    ...plain,
    run: (directory, words, { env = {}, ...options } = {}) => {
      const also = env['GIT_ALTERNATE_OBJECT_DIRECTORIES']
      const all = [...(also === undefined ? [] : [also]), quotePath(folder)].join(':')
      return plain.run(directory, words, { ...options, env: { ...env, GIT_ALTERNATE_OBJECT_DIRECTORIES: all } })
    },
  }
  const added: string[] = []
  return {
    git,
    add: async (oids) => {
      const env = withObjects(objects)
      const fresh = git.run(host, ['rev-list', '--objects', ...oids, '--not', '--all', ...added], { env })
      if (!fresh.ok) return fresh.complaint
      if (fresh.stdout.length === 0) return undefined
      const pack = git.run(host, ['pack-objects', '-q', '--stdout'], { env, input: fresh.stdout })
      if (!pack.ok) return pack.complaint
      const strict =
        git.run(host, ['rev-parse', '--is-shallow-repository']).stdout.toString().trim() === 'true' ? [] : ['--strict']
      // As git does for a push, git writes to a directory of its own, and only reads the objects of the repository.
      const stored = await plain.feed(
        host,
        ['index-pack', '--stdin', '--fsck-objects', ...strict],
        Readable.from([pack.stdout], { objectMode: false }),
        { GIT_OBJECT_DIRECTORY: folder, ...withObjects(own) },
      )
      if (!stored.ok) return stored.complaint
      added.push(...oids)
      return undefined
    },
    files: () => {
      const names = readdirSync(packs).filter((name) => /^pack-[0-9a-f]+\.(?:pack|rev|idx)$/.test(name))
      const held = names.length > 0 && existsSync(within) ? holdDirectory(encodePath(within)) : undefined
      try {
        // Git finds a pack by its index, so the index is written last.
        const rank = (name: string): number => ['pack', 'rev', 'idx'].indexOf(name.slice(name.lastIndexOf('.') + 1))
        const writes = names
          .toSorted((one, other) => rank(one) - rank(other))
          .map((name): GitWrite => {
            const [before, after] = [held?.read(name, largestPack), readFileSync(join(packs, name))]
            const mode = statSync(join(packs, name)).mode & 0o777
            return { path: join(within, name), before, after, mode, isSynced: true }
          })
        return {
          within,
          writes: writes.filter(({ before, after }) => after === undefined || before?.equals(after) !== true),
        }
      } finally {
        held?.close()
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Whether a branch, given by its full name, contains a commit. False if no git can be trusted. A tag object is contained only in the ref that has it as its
 * value.
 *
 * @param options.unless a commit that the branch must not contain, unless `commit` itself contains it. Default: the branch may contain anything
 * @internal
 */
export function hasCommit(options: {
  readonly git: GitDirectories
  readonly roots: readonly string[]
  readonly branch: string
  readonly commit: string
  readonly unless?: string | undefined
}): boolean {
  const { branch, commit, unless } = options
  const [host, git] = [holdGit(options.git), locateHostGit(options.roots)]
  try {
    const at = host && commitOf(host.common, branch)
    if (host === undefined || git === undefined || at === undefined) return false
    if (at === commit) return true
    const isIn = (one: string, other: string): boolean =>
      git.run(host.own, ['merge-base', '--is-ancestor', one, other]).ok
    const isTag = git.run(host.own, ['cat-file', '-t', commit]).stdout.toString().trim() !== 'commit'
    return !isTag && isIn(commit, at) && (unless === undefined || !isIn(unless, at) || isIn(unless, commit))
  } finally {
    host?.close()
  }
}

/** The environment with which git also finds the objects of a view. */
export function withObjects(objects: string): Readonly<Record<string, string>> {
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(objects) }
}
