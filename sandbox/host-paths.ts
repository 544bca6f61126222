import fs, {
  type Dirent,
  type Mode,
  type PathLike,
  type StatSyncFn,
  type StatsFs,
  type WriteFileOptions,
} from 'node:fs'
import { decodeName, encodePath } from './path-bytes.ts'

/*
 * The calls of `node:fs` that take or return a path. Paths are text in which bytes that aren't UTF-8 are lone surrogates (see `decodeName`). Node
 * itself would replace such bytes, in both directions, so that a call would use a different file, or find none. All code of the sandbox that
 * calls the host's file system by path uses these functions; `test/architecture/host-paths.test.ts` enforces that.
 */

/** A path that is known only as bytes is passed on as it is. */
function encoded(path: PathLike): PathLike {
  return typeof path === 'string' ? encodePath(path) : path
}

export const lstatSync = ((path: PathLike, options?: Parameters<StatSyncFn>[1]) =>
  fs.lstatSync(encoded(path), options)) as StatSyncFn

export const statSync = ((path: PathLike, options?: Parameters<StatSyncFn>[1]) =>
  fs.statSync(encoded(path), options)) as StatSyncFn

export function statfsSync(path: PathLike): StatsFs {
  return fs.statfsSync(encoded(path))
}

export function existsSync(path: PathLike): boolean {
  return fs.existsSync(encoded(path))
}

export function accessSync(path: PathLike, mode: number): void {
  fs.accessSync(encoded(path), mode)
}

/**
 * The path without symlinks. Throws the errors of realpath(3).
 *
 * @internal
 */
export function realpathSync(path: PathLike): string {
  return decodeName(fs.realpathSync.native(encoded(path), 'latin1'))
}

export function readlinkSync(path: PathLike): string {
  return decodeName(fs.readlinkSync(encoded(path), 'latin1'))
}

/** The names in a directory. */
export function readdirSync(path: PathLike): string[] {
  return fs.readdirSync(encoded(path), 'latin1').map(decodeName)
}

/** An entry of a directory. Unlike Node's own, it has no path, which would be wrong for names that aren't UTF-8. */
export type HostEntry = { readonly name: string; isDirectory(): boolean }

/**
 * The entries of a directory.
 *
 * @internal
 */
export function readEntriesSync(path: PathLike): readonly HostEntry[] {
  const directory = encoded(path)
  if (typeof directory === 'string') {
    const entries = readAsText(directory)
    // Reading names as bytes takes four times as long, so it is done only if a name may have been replaced.
    if (entries?.some(({ name }) => name.includes('\ufffd')) === false) return entries
  }
  return fs.readdirSync(directory, { withFileTypes: true, encoding: 'buffer' }).map((entry) => ({
    name: decodeName(entry.name.toString('latin1')),
    isDirectory: () => entry.isDirectory(),
  }))
}

/** An entry of a directory, as the directory lists it. Its name has one character for each byte. */
export type ListedEntry = { readonly name: string; readonly kind: 'directory' | 'file' | 'link' | 'other' }

/** The size of a directory, in bytes, from which it is read piece by piece. Reading a smaller one in one go is faster. */
const largeDirectory = 1024 * 1024

/**
 * Yields the entries of a directory. Of a directory with very many entries, only some are in memory at the same time.
 *
 * @throws the errors of stat(2), opendir(3) and readdir(3)
 * @internal
 */
export function* listEntries(path: PathLike): Generator<ListedEntry> {
  const directory = encoded(path)
  const isLarge = fs.statSync(directory).size >= largeDirectory
  if (!isLarge) return yield* listAtOnce(path)
  for (const entry of readPieces(directory)) yield { name: entry.name.toString('latin1'), kind: kindOf(entry) }
}

/** The entries of a directory that isn't large. */
export function listAtOnce(path: PathLike): readonly ListedEntry[] {
  return readWhole(encoded(path)).map((entry) => ({
    name: typeof entry.name === 'string' ? entry.name : entry.name.toString('latin1'),
    kind: kindOf(entry),
  }))
}

function readWhole(directory: PathLike): readonly (Dirent | Dirent<Buffer>)[] {
  try {
    return fs.readdirSync(directory, { withFileTypes: true, encoding: 'latin1' })
  } catch {
    // If a file system doesn't report the kinds of entries, Node looks each entry up, and finds some only if their names are bytes.
    return fs.readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })
  }
}

function* readPieces(directory: PathLike): Generator<Dirent<Buffer>> {
  // Node documents that paths and names can be bytes, but its types allow only text.
  const opened = fs.opendirSync(directory as string, { encoding: 'buffer' as BufferEncoding, bufferSize: 1000 })
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync())
      yield entry as unknown as Dirent<Buffer>
  } finally {
    opened.closeSync()
  }
}

function kindOf(entry: Dirent | Dirent<Buffer>): ListedEntry['kind'] {
  if (entry.isDirectory()) return 'directory'
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** Undefined if the directory can't be read, or if its file system doesn't report kinds and Node didn't find an entry by its replaced name. */
function readAsText(directory: string): readonly HostEntry[] | undefined {
  try {
    return fs.readdirSync(directory, { withFileTypes: true })
  } catch {
    return undefined
  }
}

export function openSync(path: PathLike, flags: string | number, mode?: Mode): number {
  return fs.openSync(encoded(path), flags, mode)
}

export function readFileSync(file: PathLike | number): Buffer
export function readFileSync(file: PathLike | number, encoding: BufferEncoding): string
export function readFileSync(file: PathLike | number, encoding?: BufferEncoding): Buffer | string {
  return fs.readFileSync(typeof file === 'number' ? file : encoded(file), { encoding: encoding ?? null })
}

export function writeFileSync(
  file: PathLike | number,
  data: string | NodeJS.ArrayBufferView,
  options?: WriteFileOptions,
): void {
  fs.writeFileSync(typeof file === 'number' ? file : encoded(file), data, options)
}

export function mkdirSync(
  path: PathLike,
  options?: Mode | { readonly recursive?: boolean; readonly mode?: Mode },
): void {
  fs.mkdirSync(encoded(path), options)
}

/** Sets the times of an entry, in seconds since 1970. A symlink isn't followed. */
export function lutimesSync(path: PathLike, accessed: number, modified: number): void {
  fs.lutimesSync(encoded(path), accessed, modified)
}

/** Creates a directory whose name begins with `prefix`, and returns its path. */
export function mkdtempSync(prefix: string): string {
  // Node documents that the prefix may be bytes, but its types allow only text.
  return decodeName(fs.mkdtempSync(encodePath(prefix) as string, 'latin1'))
}

export function renameSync(from: PathLike, to: PathLike): void {
  fs.renameSync(encoded(from), encoded(to))
}

export function rmSync(path: PathLike, options?: { readonly recursive?: boolean; readonly force?: boolean }): void {
  fs.rmSync(encoded(path), options)
}

export function rmdirSync(path: PathLike): void {
  fs.rmdirSync(encoded(path))
}

export function unlinkSync(path: PathLike): void {
  fs.unlinkSync(encoded(path))
}
