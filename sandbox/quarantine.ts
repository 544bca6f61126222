import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import process from 'node:process'
import { ownState } from './own-places.ts'

/** A place, outside every writable root, for what a command planted and nothing on the host may find. */
type Quarantine = {
  /** Moves `path` away, below `root` and through no symlink on the way. Gives its new place; undefined when it was gone. */
  take(root: string, path: string): string | undefined
}

/** O_PATH of open(2): enough to go on from, and all that a directory gives that can be entered but not read. */
const pathOnly = process.platform === 'linux' ? 0o1000_0000 : 0
const openDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | pathOnly
const largestText = 1024 * 1024

/** Nothing is created until there is something to put there. */
export function createQuarantine(): Quarantine {
  let place: string | undefined
  let count = 0
  return {
    take: (root, path) => {
      // Not in there, where an error can mean that what was planted is gone: without a place it is still there.
      place ??= makePlace()
      const to = join(place, `${(count += 1)}-${basename(path)}`)
      const taken = inParent(root, path, (entry, directory) => {
        move(entry, to, directory)
        return to
      })
      if (taken === undefined) return undefined
      writeFileSync(join(place, 'index.jsonl'), `${JSON.stringify({ from: path, to })}\n`, { flag: 'a', mode: 0o600 })
      return to
    },
  }
}

/** The text of a regular file below `root`, through no symlink; undefined for anything else and for a huge one. */
export function readPlainFile(root: string, path: string): string | undefined {
  return inParent(root, path, (entry) => {
    // Without O_NONBLOCK a pipe planted here would hold us for ever.
    const file = openSync(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(file)
      return stat.isFile() && stat.size <= largestText ? readFileSync(file, 'utf8') : undefined
    } finally {
      closeSync(file)
    }
  })
}

/** Puts a new file where there is none. */
export function putFile(root: string, path: string, text: string): void {
  inParent(root, path, (entry) => writeFileSync(entry, text, { flag: 'wx', mode: 0o644 }))
}

/** Puts a symlink back where there is none. */
export function putSymlink(root: string, path: string, target: string): void {
  inParent(root, path, (entry) => symlinkSync(target, entry))
}

/**
 * Does something to the last component of `path`, with every directory before it opened one by one and held: a directory that
 * a command still running swaps for a symlink can't lead us outside. Undefined when the path is gone or no longer plain.
 */
function inParent<T>(root: string, path: string, act: (entry: string, directory: string) => T): T | undefined {
  let directory: number | undefined
  try {
    directory = openSync(root, openDirectory)
    for (const part of relative(root, dirname(path)).split('/')) {
      if (part === '') continue
      const next = openSync(through(directory, part), openDirectory)
      closeSync(directory)
      directory = next
    }
    return act(through(directory, basename(path)), through(directory, '.'))
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  } finally {
    if (directory !== undefined) closeSync(directory)
  }
}

/** A path that goes through an open directory, whatever its name leads to by now: by procfs, or by volfs on macOS. */
function through(directory: number, entry: string): string {
  if (process.platform !== 'darwin') return `/proc/self/fd/${directory}/${entry}`
  const { dev, ino } = fstatSync(directory, { bigint: true })
  return `/.vol/${dev}/${ino}/${entry}`
}

function isGone(error: unknown): boolean {
  const gone = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'EEXIST']
  return error instanceof Error && 'code' in error && gone.includes(String(error.code))
}

function move(from: string, to: string, directory: string): void {
  try {
    renameOrCopy(from, to)
  } catch (error) {
    if (!hasCode(error, 'EACCES')) throw error
    // Whoever planted it may have closed the door behind itself.
    chmodSync(directory, 0o700)
    renameOrCopy(from, to)
  }
}

function renameOrCopy(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    rmSync(from, { recursive: true, force: true })
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function makePlace(): string {
  const quarantine = join(ownState(), 'quarantine')
  mkdirSync(quarantine, { recursive: true, mode: 0o700 })
  return mkdtempSync(join(quarantine, `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}-`))
}
