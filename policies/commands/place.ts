import { posix } from 'node:path'
import { homeDirectory } from '../home.ts'
import { findSensitive } from './sensitive-paths.ts'
import type { ShellWord } from './shell-word.ts'

/**
 * A folder or file: relative to the workspace (empty for the workspace itself), or else absolute, or from `~`. Undefined if it can't be known.
 */
export type Location = string | undefined

/** What belongs to a run: the workspace, and other folders that it may change. */
export type Grounds = { readonly workspace: string; readonly roots: readonly string[] }

/** The folders in which a command may be working, and what the paths that it names then mean. */
export class Place {
  readonly #grounds: Grounds
  /** The folders in which the command may be working. */
  readonly folders: readonly Location[]

  constructor(grounds: Grounds, folders: readonly Location[]) {
    this.#grounds = grounds
    this.folders = folders
  }

  /** The place in which a command line starts. */
  static at(cwd: string, grounds: Grounds): Place {
    const start = new Place(grounds, [''])
    return cwd === grounds.workspace ? start : start.in([start.locate('', cwd)])
  }

  /** The same grounds, with other folders. */
  in(folders: readonly Location[]): Place {
    return new Place(this.#grounds, folders)
  }

  /** Resolves a path in a folder. */
  locate(folder: Location, path: string): Location {
    const { workspace } = this.#grounds
    if (path.startsWith('~')) {
      const isHome = path === '~' || path.startsWith('~/')
      const inside = isHome ? this.#within(posix.join(homeDirectory(), path.slice(1))) : undefined
      return inside ?? posix.normalize(path)
    }
    if (path.startsWith('/')) return this.#within(posix.normalize(path)) ?? posix.normalize(path)
    if (folder === undefined) return undefined
    if (/^[/~]/.test(folder)) return this.locate('', posix.join(folder, path))
    const below = posix.join(folder, path).replace(/^\.\/*$/, '')
    if (!/^\.\.(?:\/|$)/.test(below)) return below
    // From a workspace that isn't known, nothing can be said about the folders above it.
    const above = posix.resolve(workspace, below)
    return workspace === '/' ? below : (this.#within(above) ?? above)
  }

  /** The location of an absolute path in the workspace. Undefined if the path isn't in the workspace. */
  #within(path: string): Location {
    const { workspace } = this.#grounds
    if (workspace === '/') return undefined
    const clean = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    if (clean === workspace) return ''
    return clean.startsWith(`${workspace}/`) ? clean.slice(workspace.length + 1) : undefined
  }

  /** The locations that a path may have. */
  locations(path: string): readonly Location[] {
    return this.folders.map((folder) => this.locate(folder, path))
  }

  /** The path of a location for programs of the host; undefined if it can't be known. */
  absolute(location: Location): string | undefined {
    if (location === undefined || location.startsWith('/')) return location
    if (!location.startsWith('~')) return posix.resolve(this.#grounds.workspace, location)
    return /^~(?:\/|$)/.test(location) ? posix.join(homeDirectory(), location.slice(1)) : undefined
  }

  /**
   * The path of a location outside of the workspace; undefined if it is inside. If the workspace is a home directory, contains home directories, or is
   * a system folder such as `/etc`, everything counts as outside, because such a folder holds more than the files of a project.
   */
  outside(location: string): string | undefined {
    if (/^[/~]/.test(location)) return location
    const { workspace } = this.#grounds
    const isShared = /^(?:\/(?:home|Users)(?:\/[^/]+)?|\/(?:var\/)?root|\/etc|\/var|\/run|\/)$/.test(workspace)
    return isShared ? this.absolute(location) : undefined
  }

  /** Whether a word is a pattern for everything in one of the run's folders. */
  isAll(word: ShellWord): boolean {
    return (word.kind === 'glob' || (word.kind === 'dynamic' && word.listed !== undefined)) && this.isWide(word)
  }

  /** Returns the part of a location below the run's own folders. Undefined if the location is outside of these. */
  #own(location: string): string | undefined {
    if (!/^(?:[/~]|\.\.(?:\/|$))/.test(location)) return location
    const root = this.#grounds.roots.find((one) => location === one || location.startsWith(`${one}/`))
    return root === undefined ? undefined : location.slice(root.length + 1)
  }

  /** Whether a word certainly names something in the workspace that isn't known to contain credentials. */
  owns(word: ShellWord): boolean {
    return this.contains(word) && findSensitive(word.text, word.kind === 'glob') === undefined
  }

  /** Whether a word certainly names something in the run's folders. */
  contains(word: ShellWord): boolean {
    if (word.kind === 'dynamic') return false
    return this.locations(word.text).every((location) => location !== undefined && this.#own(location) !== undefined)
  }

  /** Whether a word certainly names something in a folder of the run that holds only the files of a project, of which a view leaves out those with secrets. */
  isInView(word: ShellWord): boolean {
    return this.contains(word) && this.locations(word.text).every((at) => at !== undefined && this.#isProjects(at))
  }

  #isProjects(location: string): boolean {
    return this.outside(location) === undefined || /^[/~]/.test(location)
  }

  /**
   * Whether a word may name all that is in one of the run's folders, a `.git` folder, or something outside of these folders and of the folders for
   * temporary files.
   */
  isWide(word: ShellWord): boolean {
    if (word.kind !== 'dynamic') return this.locations(word.text).some((location) => this.#isWideAt(location))
    if (word.from === 'workspace') return false
    // A variable that the text doesn't set, alone or followed by a name, counts as one path. Everything below it is wide, because it may be empty.
    const rest = word.text.replace(/["']/g, '').replace(/\$(?:\w+|\{\w+\})/g, '')
    const isNamed =
      rest === ''
        ? word.filled !== true && word.listed === undefined
        : /\w/.test(rest.split('/').findLast((name) => name !== '') ?? '') && !rest.endsWith('/*')
    if (isNamed && !/[$`*?[{<]/.test(rest)) return false
    const folder = word.prefix.slice(0, word.prefix.lastIndexOf('/') + 1)
    return !/\w/.test(folder) || this.locations(folder).some((location) => this.#isWideAt(location))
  }

  #isWideAt(location: Location): boolean {
    if (location === undefined || (/(?:^|\/)\.git(?:\/|$)/.test(location) && !location.endsWith('.lock'))) return true
    const own = this.#own(location)
    // A pattern in which no letter is certain matches everything in a folder.
    if (own !== undefined) return own.split('/').every(isEveryName)
    return !/^\/(?:var\/)?tmp\/[^/]/.test(location)
  }
}

function isEveryName(name: string): boolean {
  return name.replace(/\[[^\]]*\]?|[*?.!]/g, '') === ''
}
