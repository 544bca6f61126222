import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { removeTree } from '../../../sandbox/index.ts'
import { readIfThere, writeWhole } from '../folder/files.ts'
import type { Repository } from '../tasks/task.ts'
import { fileName } from '../trials.ts'
import { RepositoryFailure, type Git } from './repository-git.ts'

/** A checked-out ref of a repository. */
type Checkout = { readonly tree: string; readonly commit: string }

/**
 * The repositories of a batch: a bare mirror of each repository, and a work tree for each commit that a run needs. A run never works in such a tree
 * itself, but in a private view of it. The tree has no refs to later commits, so the run's commands don't find these in its history.
 */
export class Repositories {
  readonly #folder: string
  readonly #git: Git
  readonly #owner: number
  readonly #mirrors = new Map<string, Promise<string>>()
  readonly #checkouts = new Map<string, Promise<Checkout>>()

  /** @param folder the folder that contains the mirrors and the work trees */
  constructor(folder: string, git: Git, owner: number) {
    this.#folder = folder
    this.#git = git
    this.#owner = owner
  }

  /**
   * Checks out a ref into a work tree, which all refs to the same commit share. The commit that a name refers to is looked up once and stays the same
   * for the whole batch.
   *
   * @throws RepositoryFailure if the repository can't be cloned or has no such ref
   */
  async checkOut(repository: Repository): Promise<Checkout> {
    return once(this.#checkouts, JSON.stringify(repository), async () => {
      const mirror = await once(this.#mirrors, repository.source, () => this.#mirror(repository.source))
      const commit = await this.#commitOf(mirror, repository)
      const tree = join(this.#folder, 'trees', `${basename(mirror, '.git')}-${commit.slice(0, 12)}`)
      if (!existsSync(tree)) await this.#makeTree(tree, mirror, commit)
      return { tree, commit }
    })
  }

  /**
   * Checks that the repository exists and, if it is a local one, that it has the ref. Nothing is cloned.
   *
   * @returns the problem; undefined if there is none
   */
  async check({ source, ref }: Repository): Promise<string | undefined> {
    try {
      if (existsSync(source)) await this.#git.run(source, ['rev-parse', '--verify', '--quiet', asCommit(ref)])
      else await this.#git.run('/', ['ls-remote', '--quiet', '--', source, 'HEAD'])
      return undefined
    } catch (error) {
      if (!(error instanceof RepositoryFailure)) throw error
      const what = existsSync(source) ? ` has no commit ${ref ?? 'HEAD'}` : ''
      return `${source}${what}: ${error.message}`
    }
  }

  async #mirror(source: string): Promise<string> {
    const name = fileName(basename(source.split(':').at(-1) ?? source).replace(/\.git$/, ''))
    const hash = createHash('sha256').update(source).digest('hex').slice(0, 8)
    const mirror = join(this.#folder, 'mirrors', `${name}-${hash}.git`)
    if (existsSync(mirror)) return mirror
    mkdirSync(join(this.#folder, 'mirrors'), { recursive: true, mode: 0o700 })
    const fresh = `${mirror}.${this.#owner}.new`
    await removeTree(fresh)
    await this.#git.run('/', ['clone', '--quiet', '--mirror', '--', source, fresh])
    renameSync(fresh, mirror)
    return mirror
  }

  async #commitOf(mirror: string, { source, ref }: Repository): Promise<string> {
    const file = `${mirror.slice(0, -'.git'.length)}.commits.json`
    const known = JSON.parse(readIfThere(file) ?? '{}') as Readonly<Record<string, string>>
    const name = ref ?? 'HEAD'
    const before = known[name]
    if (before !== undefined) return before
    const look = (): Promise<string> => this.#git.run(mirror, ['rev-parse', '--verify', '--quiet', asCommit(ref)])
    const commit = await look().catch(async () => {
      // The mirror lacks the commit, perhaps because it is newer than the mirror or is on no branch. So try to fetch it separately.
      const problem = await this.#git
        .run(mirror, ['fetch', '--quiet', 'origin', ...(ref === undefined ? [] : [ref])])
        .then(
          () => '',
          (error: unknown) => `, and it could not be fetched: ${(error as Error).message}`,
        )
      return look().catch(() => {
        throw new RepositoryFailure(`the copy of ${source} has no commit named ${name}${problem}`)
      })
    })
    const latest = JSON.parse(readIfThere(file) ?? '{}') as Readonly<Record<string, string>>
    writeWhole(file, `${JSON.stringify({ ...latest, [name]: commit.trim() })}\n`, this.#owner)
    return commit.trim()
  }

  async #makeTree(tree: string, mirror: string, commit: string): Promise<void> {
    mkdirSync(join(this.#folder, 'trees'), { recursive: true, mode: 0o700 })
    const fresh = `${tree}.${this.#owner}.new`
    await removeTree(fresh)
    const format = (await this.#git.run(mirror, ['rev-parse', '--show-object-format'])).trim()
    await this.#git.run('/', ['init', '--quiet', `--object-format=${format}`, '--initial-branch=main', '--', fresh])
    mkdirSync(join(fresh, '.git/objects/info'), { recursive: true })
    writeWhole(join(fresh, '.git/objects/info/alternates'), `${join(mirror, 'objects')}\n`, this.#owner)
    await this.#git.run(fresh, ['reset', '--quiet', '--hard', commit])
    renameSync(fresh, tree)
  }
}

/** Formats a ref so that git resolves it to a commit. */
function asCommit(ref: string | undefined): string {
  return `${ref ?? 'HEAD'}^{commit}`
}

/**
 * Returns a result that already exists or is being computed, so that simultaneous callers share one computation. If the computation fails, the next
 * call starts it again.
 */
function once<T>(made: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = made.get(key)
  if (known !== undefined) return known
  const making = make()
  made.set(key, making)
  making.catch(() => made.delete(key))
  return making
}
