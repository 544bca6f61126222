import { dirname, join } from 'node:path'
import type { Mount } from '../mount.ts'
import { nestedNames } from '../nested-places.ts'
import { realpathSync } from '../host-paths.ts'
import { isWithin } from '../paths.ts'
import { randomName } from '../random-name.ts'
import type { Command, Denial } from '../sandbox.ts'
import { createGlobalConfig } from './global-config.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import type { ImportNote, RunPack } from './import-types.ts'
import { lendersOf } from './lenders.ts'
import { PrivateRepository } from './private-repository.ts'
import { createReadOnlyViews } from './read-only-repository.ts'
import { repositoryOf } from './repository.ts'
import { createGitScanner } from './git-scanner.ts'
import { shownPath, type View } from '../views/view-paths.ts'

/** The git data that a command sees in place of the host's. */
export type GitView = {
  /** The mounts of all private directories that repositories have been given in this run so far, wherever these repositories are. */
  readonly mounts: readonly Mount[]
  /** The read-only mounts for repositories that have no private directory. Each is used only if the repository is visible to the command at all. */
  readonly nested: readonly Mount[]
  /** Files that contain secrets, and that git reads on the host but commands must not see. */
  readonly hidden: readonly string[]
  /** The caller's own configuration files, wherever they are, and those that they include. */
  readonly configs: readonly string[]
  /** Files that commands see with the secrets removed. */
  readonly replaced: readonly Mount[]
}

/** The repositories of a run, each with a private directory that its commands see in place of the host's. */
export type PrivateGit = {
  /**
   * Returns the git data that a command sees.
   *
   * @param nested the host's repositories below the roots, read-only unless they concern the command (see `concerned`); undefined without a search
   * @param settled whether no command that can write is running. Only then can the host's changes be copied in
   */
  view(command: Pick<Command, 'cwd' | 'readOnly'>, nested: readonly string[] | undefined, settled: boolean): GitView
  /** Imports the changes that commands made to git's data, and reports what could not be imported. */
  takeOver(pack: RunPack): Promise<readonly Denial[]>
  close(): void
}

/** No private git directories, for sandboxes that can't mount anything: in them, commands see the host's own repositories. */
export const noPrivateGit: PrivateGit = {
  view: () => ({ mounts: [], nested: [], hidden: [], configs: [], replaced: [] }),
  takeOver: async () => [],
  close: () => undefined,
}

/** At most this many bare repositories below the roots get a private directory from the start, so that commands can push to them. */
const mostBare = 16

/** At most this many repositories in the work tree of another one get a private directory from the start if they are in a view. */
const mostNested = 256

/**
 * Creates the private git directories of a run's repositories.
 *
 * @param options.roots the directories that commands may write to, without symlinks
 * @param options.workspace the policy's workspace, without symlinks
 * @param options.directory the run's own directory, which no command sees as a whole
 * @param options.denied returns the paths below the roots that commands can't read now. Git ignores these files, or treats them as unchanged
 */
export function openPrivateGit(options: {
  readonly roots: readonly string[]
  readonly workspace: string
  readonly directory: string
  readonly denied: () => readonly string[]
  readonly showsOwner: boolean
  /** The policy's private views, which give repositories a different path in the sandbox. */
  readonly views: readonly View[]
  /** The beginnings of addresses that only the sandbox's own settings may rewrite. */
  readonly rewritten: readonly string[]
}): PrivateGit {
  const { roots, workspace, directory, showsOwner, views, rewritten } = options
  const run = randomName(4)
  const repositories = new Map<string, PrivateRepository>()
  const unsupported = new Set<string>()
  const globalConfig = createGlobalConfig(directory, roots, rewritten)
  let located: { readonly git: HostGit | undefined } | undefined
  const hostGit = (): HostGit | undefined => (located ??= { git: locateHostGit(roots) }).git
  const readOnlyViews = createReadOnlyViews(directory, hostGit, rewritten)
  let count = 0
  let taking = Promise.resolve<readonly Denial[]>([])

  const isInRoot = (path: string): boolean => roots.some((root) => isWithin(path, root))
  const isInView = (path: string): boolean => views.some(({ source }) => isWithin(path, source))

  const open = (git: string): PrivateRepository | undefined => {
    const known = repositories.get(git)
    if (known !== undefined) return known
    if (unsupported.has(git)) return undefined
    const trusted = hostGit()
    if (trusted === undefined) return undefined
    const place = join(directory, `git-${(count += 1)}`)
    const made = new PrivateRepository({
      git,
      directory: place,
      hostGit: trusted,
      roots,
      // Without a view, nothing would judge what commands write.
      writable: isInView(git),
      run,
      showsOwner,
      ...{ views, rewritten },
      mayBorrow: lendersOf(git, { views, roots }),
    })
    repositories.set(git, made)
    return made
  }

  const forget = (git: string, repository: PrivateRepository): void => {
    repositories.delete(git)
    repository.close()
  }

  const prepare = (git: string, denied: readonly string[]): void => {
    const repository = open(git)
    if (repository === undefined) return
    if (!repository.prepare(denied)) {
      unsupported.add(git)
      forget(git, repository)
      return
    }
    for (const name of repository.modules) prepare(`${git}/modules/${name}`, denied)
  }

  /**
   * The repositories that concern a command: those of the roots, those of the starting directory, the workspace and the parent directories of both,
   * bare repositories below the roots, and all repositories in views.
   */
  const concerned = (cwd: string, nested: readonly string[]): ReadonlySet<string> => {
    const found = new Set<string>()
    // Results are cached, because most of these paths have the same parent directories.
    const asked = new Map<string, string | undefined>()
    const at = (directory: string): string | undefined => {
      if (!asked.has(directory)) asked.set(directory, repositoryOf(directory))
      return asked.get(directory)
    }
    const add = (git: string | undefined): void => {
      if (git !== undefined) found.add(git)
    }
    for (const root of new Set([...roots, workspace])) add(at(root))
    for (let place = cwd; place !== '/'; place = dirname(place)) add(at(place))
    // A repository above the workspace may contain secrets too.
    for (const below of new Set([workspace, shownPath(workspace, views)]))
      for (let place = dirname(below); place !== '/'; place = dirname(place)) add(at(place))
    for (const git of nested.filter((path) => !path.endsWith('/.git')).slice(0, mostBare))
      if (repositoryOf(git) === git) add(git)
    // A repository in a view may borrow the objects of the original, and commands can't reach these at their own path. In a private directory, they are
    // available at a path inside it.
    const inViews = nested.filter((path) => path.endsWith('/.git') && isInView(path))
    for (const git of inViews.slice(0, mostNested)) if (at(dirname(git)) === git) add(git)
    // Without a view, a root that is itself a repository stays writable, and so do the repositories that commands have made.
    const isOpen = (git: string): boolean =>
      !isInView(git) && isInRoot(git) && !nested.some((known) => isWithin(git, known))
    for (const git of found) if (isOpen(git)) found.delete(git)
    return found
  }

  // Repositories may contain secrets even if commands can't write anything. In that case one search is enough, because no command can create a repository.
  let seen: readonly string[] | undefined
  const below = (): readonly string[] => {
    if (seen === undefined) {
      const { scan, restore } = createGitScanner()
      const found = scan(workspace, nestedNames([], workspace), () => 'nothing')
      restore()
      seen = found.directories.filter((path) => path !== workspace)
    }
    return seen
  }

  const view: PrivateGit['view'] = ({ cwd, readOnly }, given, settled) => {
    if (settled) for (const [git, each] of repositories) if (!each.isThere) forget(git, each)
    const nested = given ?? below()
    const wanted = concerned(realpathSync(cwd), nested)
    const fresh = [...wanted].filter((git) => settled || !repositories.has(git))
    const denied = fresh.length === 0 ? [] : options.denied()
    for (const git of fresh) prepare(git, denied)
    const shown = [...repositories.values()]
    const global = globalConfig()
    const own = shown.flatMap((each) => each.mounts(readOnly === true ? 'read-only' : 'writable'))
    const rest = [...nested, ...[...wanted].filter((git) => unsupported.has(git))]
    const others = readOnlyViews(
      rest.filter((path) => !shown.some(({ git }) => isWithin(path, git))),
      shown.flatMap(({ secretFiles }) => secretFiles),
    )
    return {
      mounts: own,
      nested: others.mounts,
      hidden: [...others.hidden, ...global.hidden],
      configs: global.files,
      replaced: global.replaced,
    }
  }

  const takeAll = async (pack: RunPack): Promise<readonly Denial[]> => {
    const denials: Denial[] = []
    for (const repository of repositories.values()) {
      try {
        denials.push(...(await repository.takeOver(pack)).map(denialOf))
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        denials.push(
          denialOf({
            subject: `${repository.git} (${why})`,
            advice: "some or all of the command's changes to this repository were not imported",
          }),
        )
      }
    }
    return denials
  }

  return {
    view,
    takeOver: (pack) => {
      // Only one import runs at a time, because each import compares the repository with the result of the previous one.
      taking = taking.then(() => takeAll(pack))
      return taking
    },
    close: () => {
      for (const repository of repositories.values()) repository.close()
      repositories.clear()
    },
  }
}

function denialOf({ subject, advice }: ImportNote): Denial {
  return {
    kind: 'git',
    subject,
    rule: 'git: a change is imported only if the same ref, file or setting was not changed on the host, and if the change does not make git run a program',
    certainty: 'proven',
    remedy: { kind: 'otherwise', advice },
  }
}
