import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { encodePath, readHostFile, type View } from '../../../sandbox/index.ts'

const largest = 512 * 1024 * 1024

/**
 * A throw-away tree in which a judge runs a command: a copy of the base, or a layer over the base, of which then nothing is copied. Paths are relative to its root.
 */
export class JudgeTree {
  readonly view: View
  /** A whiteout, which removes what the base has. Undefined: the tree is a copy. */
  readonly #whiteout: string | undefined

  constructor(view: View, whiteout?: string) {
    this.view = view
    this.#whiteout = whiteout
  }

  /** Finds where an entry is stored to which no link leads. */
  find(path: string): string | undefined {
    const { source, over } = this.view
    const names = path.split('/')
    let isMerged = over !== undefined
    for (let count = 1; count <= names.length; count++) {
      const at = names.slice(0, count).join('/')
      const stats = statsAt(source, at)
      if (stats === undefined) return isMerged && over !== undefined && isIn(over, path) ? join(over, path) : undefined
      if (stats.isCharacterDevice() && over !== undefined) return undefined
      if (count === names.length) break
      if (!stats.isDirectory()) return undefined
      isMerged &&= over !== undefined && statsAt(over, at)?.isDirectory() === true
    }
    return join(source, path)
  }

  /** Reads a file as text; undefined if there is none. */
  text(path: string): string | undefined {
    const place = this.find(path)
    return place === undefined ? undefined : textAt(place)
  }

  /** Gives a path the state that it has in a directory. */
  copyFrom(root: string, path: string): void {
    const source = encodePath(join(root, path))
    const stats = isReachable(path, root) ? lstatSync(source, { throwIfNoEntry: false }) : undefined
    if (stats === undefined) this.remove(path)
    else if (stats.isSymbolicLink()) symlinkSync(readlinkSync(source, 'buffer'), this.#clear(path))
    else if (stats.isDirectory()) this.makeDirectory(path)
    else if (stats.isFile()) {
      const bytes = readHostFile(source, { maxBytes: largest })
      if (bytes === undefined) throw new Error(`${join(root, path)} can't be read`)
      this.writeFile(path, bytes, stats.mode)
    }
  }

  writeFile(path: string, bytes: Buffer | string, mode: number): void {
    const place = this.#clear(path)
    writeFileSync(place, bytes)
    chmodSync(place, mode & 0o777)
  }

  copyFile(path: string, from: string, mode: number): void {
    const place = this.#clear(path)
    copyFileSync(from, place)
    chmodSync(place, mode & 0o777)
  }

  makeLink(path: string, target: string): void {
    symlinkSync(target, this.#clear(path))
  }

  remove(path: string): void {
    if (this.find(path) === undefined) return
    const place = this.#clear(path)
    if (this.#whiteout !== undefined && this.find(path) !== undefined) linkSync(this.#whiteout, place)
  }

  /** Makes a directory, with those above it, where there is none. As in the base, if it has one there. */
  makeDirectory(path: string): void {
    if (path === '' || path === '.') return
    this.makeDirectory(dirname(path))
    const place = encodePath(join(this.view.source, path))
    if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true) return
    rmSync(place, { force: true })
    mkdirSync(place)
    const below = this.view.over === undefined ? undefined : statsAt(this.view.over, path)
    if (below?.isDirectory() !== true) return
    chmodSync(place, Number(below.mode & 0o777n))
    utimesSync(place, below.atime, below.mtime)
  }

  /**
   * What changes when a file is written, even if it gets its old content and times again, or when it or a directory that contains it is removed. The directories
   * are made in a layer first, because it doesn't say whether one there hides that of the base.
   */
  statesOf(paths: readonly string[]): () => ReadonlyMap<string, string> {
    const folders = new Set(paths.map((path) => dirname(path)))
    if (this.view.over !== undefined) for (const folder of folders) this.makeDirectory(folder)
    const stateOf = (path: string, isFile: boolean): string => {
      const stats = statsAt(this.view.source, path)
      if (stats === undefined) return ''
      return `${stats.ino} ${stats.birthtimeNs} ${isFile ? `${stats.size} ${stats.ctimeNs}` : ''}`
    }
    return () => {
      const known = new Map<string, string>([['.', '']])
      const stateOfFolder = (folder: string): string => {
        const found = known.get(folder) ?? `${stateOfFolder(dirname(folder))}/${stateOf(folder, false)}`
        known.set(folder, found)
        return found
      }
      return new Map(paths.map((path) => [path, `${stateOfFolder(dirname(path))}/${stateOf(path, true)}`]))
    }
  }

  /** Makes room for an entry. */
  #clear(path: string): Buffer | string {
    this.makeDirectory(dirname(path))
    const place = encodePath(join(this.view.source, path))
    rmSync(place, { recursive: true, force: true })
    return place
  }
}

/** The metadata of an entry; undefined if it or a directory on the way isn't there. */
function statsAt(root: string, path: string): BigIntStats | undefined {
  try {
    return lstatSync(encodePath(join(root, path)), { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}

function textAt(place: string): string | undefined {
  return readHostFile(encodePath(place), { maxBytes: 4 * 1024 * 1024 })?.toString()
}

/** Reads a file in a directory as text; undefined if there is no such file, or a link is on the way to it. */
export function textIn(root: string, path: string): string | undefined {
  return isReachable(path, root) ? textAt(join(root, path)) : undefined
}

/** The path, relative to the root, to which a link leads; undefined if there is no link, or if it leads out of the root. */
export function linkIn(root: string, path: string): string | undefined {
  const place = encodePath(join(root, path))
  if (!isReachable(path, root) || lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true)
    return undefined
  const target = relative(root, resolve(root, dirname(path), readlinkSync(place)))
  return target.startsWith('..') ? undefined : target
}

/** Whether a directory has an entry at a path, to which no link leads. */
export function isIn(root: string, path: string): boolean {
  return isReachable(path, root) && statsAt(root, path) !== undefined
}

function isReachable(path: string, root: string): boolean {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    if (statsAt(root, folder)?.isDirectory() !== true) return false
  }
  return true
}
