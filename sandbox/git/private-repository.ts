import { fstatSync } from 'node:fs'
import { lstatSync } from '../host-paths.ts'
import type { Mount } from '../mount.ts'
import { encodePath } from '../path-bytes.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { importChanges } from './import.ts'
import { importMade } from './import-made.ts'
import type { ImportNote, ImportSides, Known, RunPack } from './import-types.ts'
import { makePrivateCopy, type WorktreeScope } from './private-copy.ts'
import { PrivateObjects } from './private-objects.ts'
import { scopesOf } from './repository.ts'
import { readShownConfig, type ShownConfig } from './shown-config.ts'
import { hostStamp, snapshot } from './git-snapshot.ts'
import type { View } from '../views/view-paths.ts'

type Options = {
  /** The repository's directory on the host, without symlinks. The private directory is mounted over it. */
  readonly git: string
  /** The run's own directory in which the private repository is made. */
  readonly directory: string
  readonly hostGit: HostGit
  /** The writable roots, with symlinks resolved. */
  readonly roots: readonly string[]
  /** Whether commands may change the repository at all. */
  readonly writable: boolean
  readonly run: string
  /** Whether the caller's files appear to commands as owned by the user and group that `shownOwner` returns. */
  readonly showsOwner: boolean
  /** Whether the repository may borrow the objects of a directory. */
  readonly mayBorrow: (directory: string) => boolean
  /** Private views in which commands see the repository at a different path. */
  readonly views: readonly View[]
  /** The beginnings of addresses that only the sandbox's own settings may rewrite. */
  readonly rewritten: readonly string[]
}

type State = {
  readonly left: HeldDirectory
  readonly path: string
  readonly known: Known
  readonly scopes: readonly WorktreeScope[]
  readonly modules: readonly string[]
  readonly config: ShownConfig
  readonly denied: string
  seen: string
  host: string
}

/**
 * A repository of the host in the form that commands see. They see a private directory in place of the repository's own, and their changes to it are
 * imported.
 */
export class PrivateRepository {
  readonly git: string
  readonly #options: Options
  readonly #host: HeldDirectory
  readonly #objects: PrivateObjects
  #state: State | undefined
  #oidBytes = 20
  #generation = 0
  #stale = false

  constructor(options: Options) {
    this.git = options.git
    this.#options = options
    this.#host = holdDirectory(encodePath(options.git))
    this.#objects = new PrivateObjects(this.git, this.#host, options.directory, options.views, options.mayBorrow)
  }

  /** Whether commands may change the repository. Only then are their changes imported. */
  get writable(): boolean {
    return this.#options.writable
  }

  /** Whether the repository is still where it was. Commands may have moved or removed it. */
  get isThere(): boolean {
    const [now, held] = [lstatSync(this.git, { throwIfNoEntry: false }), fstatSync(this.#host.descriptor)]
    return now?.dev === held.dev && now.ino === held.ino
  }

  /** The names of the submodules whose git directories are inside this repository. Each of these directories is itself a repository. */
  get modules(): readonly string[] {
    return this.#state?.modules ?? []
  }

  /** The files that the repository's config includes and that contain secrets, and the key files that the config names. */
  get secretFiles(): readonly string[] {
    return this.#state?.config.secretFiles ?? []
  }

  /**
   * Creates the private directory, or creates it again if the host's repository or the denied paths have changed, or if the last import requires it.
   * Call it only while no command that can write is running.
   *
   * @param denied the paths that commands can't read, absolute and without symlinks
   * @returns whether the private directory exists. Some kinds of repositories can't be read, so they have none
   */
  prepare(denied: readonly string[]): boolean {
    const { hostGit, roots, directory, views, rewritten } = this.#options
    const before = this.#state
    const isSame = before?.denied === denied.join('\0') && !this.#stale
    if (before !== undefined && isSame && this.#stamp(before.scopes) === before.host) return true
    const scopes = scopesOf(this.git, this.#host, roots).map((scope) =>
      this.writable ? scope : { ...scope, writable: false },
    )
    const host = this.#stamp(scopes)
    const modules = modulesOf(this.#host)
    const names = [
      'config',
      'config.worktree',
      ...scopes.flatMap(({ prefix }) => (prefix === '' ? [] : [`${prefix}config.worktree`])),
    ]
    const isOverlay = views.some(({ overlay }) => overlay === true)
    const config = readShownConfig(this.git, this.#host, hostGit, names, { isOverlay, rewritten })
    const format = config.whole.findLast(
      ({ section, name }) => section === 'extensions' && name === 'objectformat',
    )?.value
    const storage = config.whole.findLast(
      ({ section, name }) => section === 'extensions' && name === 'refstorage',
    )?.value
    if (!config.isValid || (storage !== undefined && storage !== 'files')) return false
    this.#oidBytes = format === 'sha256' ? 32 : 20
    const path = `${directory}/${(this.#generation += 1)}`
    const baseline = makePrivateCopy(this.#host, path, {
      oidBytes: this.#oidBytes,
      scopes,
      config: config.texts,
      modules,
      denied,
      showsOwner: this.#options.showsOwner,
      borrowed: this.#objects.borrowedInside,
    })
    if (baseline === undefined) return false
    this.#objects.repair()
    this.#state?.left.close()
    const left = holdDirectory(path)
    const known: Known = {
      refs: new Map(baseline.refs),
      files: new Map(baseline.files),
      raw: new Map(baseline.raw),
      config: new Map(config.entries),
    }
    this.#state = { left, path, known, scopes, modules, config, denied: denied.join('\0'), seen: snapshot(left), host }
    this.#stale = false
    return true
  }

  /** The mounts that put the private directory in place of the host's. They are added to a command's mounts. */
  mounts(as: 'writable' | 'read-only'): readonly Mount[] {
    const state = this.#state
    if (state === undefined) return []
    const may = this.writable ? as : 'read-only'
    const lfs = this.#host.stat('lfs')?.kind === 'directory'
    return [
      { path: this.git, source: state.path, as: may },
      ...this.#objects.mounts(may),
      ...(lfs ? [{ path: `${this.git}/portcullis/lfs`, source: `${this.git}/lfs`, as: 'read-only' as const }] : []),
    ]
  }

  /** Imports the changes that commands made, if there are any. */
  async takeOver(pack: RunPack): Promise<readonly ImportNote[]> {
    const state = this.#state
    if (state === undefined || !this.writable) return []
    const now = snapshot(state.left)
    if (now === state.seen) return []
    const { hostGit, run, roots } = this.#options
    const sides: ImportSides = {
      git: hostGit,
      host: this.#host,
      left: state.left,
      oidBytes: this.#oidBytes,
      scopes: state.scopes,
      run,
    }
    const objects = this.#objects.newOnes(this.#oidBytes, pack)
    // Whether others have changed the host's repository. This has to be determined before the import, which itself changes the repository.
    const moved = this.#stamp(state.scopes) !== state.host
    const { notes, stale, complete } = await importChanges(sides, state.known, objects)
    if (complete) objects.taken()
    const made = await importMade(sides, { git: this.git, roots, pack })
    state.seen = now
    state.host = this.#stamp(state.scopes)
    this.#stale ||= moved || stale || made.stale
    return [...notes, ...made.notes]
  }

  close(): void {
    this.#state?.left.close()
    this.#host.close()
  }

  #stamp(scopes: readonly WorktreeScope[]): string {
    return hostStamp(
      this.#host,
      scopes.map(({ prefix }) => prefix),
    )
  }
}

/** The directories below `modules` that are repositories. They may be nested, because the name of a submodule may contain slashes. */
function modulesOf(host: HeldDirectory): readonly string[] {
  const found: string[] = []
  const look = (path: string, depth: number): void => {
    for (const name of host.names(path) ?? []) {
      const entry = `${path}/${name}`
      if (host.stat(entry)?.kind !== 'directory') continue
      if (host.stat(`${entry}/HEAD`) !== undefined && host.stat(`${entry}/objects`) !== undefined) {
        found.push(entry.slice('modules/'.length))
      } else if (depth < 4) look(entry, depth + 1)
    }
  }
  look('modules', 0)
  return found
}
