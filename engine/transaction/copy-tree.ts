import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { indexOfCopy, readHostFile, type CopyStats } from '../../sandbox/index.ts'
import { cleanFiles, largestIndex, type CleanBlobs, type CleanFiles } from './clean-files.ts'
import { copyFile, seconds, setTimes, type HowToCopy } from './copy-file.ts'
import { copyGitDirectory } from './copy-git.ts'
import { copyLinkedGit, linkedGitOf, linkNested } from './linked-git.ts'
import { stampOf, type Manifest, type Original } from './view-manifest.ts'
import { below, bytesOf, placeOf } from './path-keys.ts'

/** The maximum number of files and bytes in a tree that is copied. For larger trees, another method is better. */
export type CopyLimit = { readonly files: number; readonly bytes: number }

/** Thrown if a tree can't be copied as requested: it is too large, its file system can't clone files, or overlays can't be used. */
export class CopyRefusal extends Error {
  readonly why: 'large' | 'no-clones' | 'no-overlay'

  constructor(why: CopyRefusal['why'], message: string) {
    super(message)
    this.why = why
  }
}

type CopyOptions = {
  /** `reflink` shares blocks with the original, and fails if that is impossible; `copy` writes new blocks. */
  readonly how: HowToCopy
  /** The maximum size of the tree. It is checked while the tree is copied, so that copying stops early if the tree is too large. Absent: no limit. */
  readonly limit?: CopyLimit | undefined
  readonly signal?: AbortSignal | undefined
}

/** How many entries are copied before other tasks of this process get a chance to run. */
const atOnce = 200

/**
 * Copies a tree with its modes and times, and records the state of the originals. Follows no symbolic links. Git objects aren't copied; the copy uses those of
 * the original. Anything that can't be copied (pipes, sockets, devices, unreadable files) is left out and recorded as such.
 *
 * @param to a directory that doesn't exist yet
 * @throws CopyRefusal if the tree can't be copied in this way; what has been copied so far is not removed
 */
export async function copyTree(from: string, to: string, { how, limit, signal }: CopyOptions): Promise<Manifest> {
  const found = new Map<string, Original>()
  const filled = ['']
  let [looked, files, bytes] = [0, 0, 0]
  const count = (size: number): void => {
    files += 1
    bytes += size
    if (limit !== undefined && (files > limit.files || bytes > limit.bytes)) {
      const what = files > limit.files ? `${limit.files} files` : `${Math.round(limit.bytes / 1_000_000)} MB`
      throw new CopyRefusal('large', `${from} contains more than ${what}`)
    }
  }
  mkdirSync(to, { mode: 0o700 })
  const { blobOf, index } = cleanFiles(from)
  const copies = new Map<string, CopyStats | 'linked'>()
  const links = new Map<string, string>()
  const linked = linkedGitOf(from)
  if (linked !== undefined) copyLinkedGit(linked, `${to}/.git`, count)
  const pending = [{ directory: '', names: namesIn(from) }]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const name of at.names) {
      if (++looked % atOnce === 0) await setImmediate()
      signal?.throwIfAborted()
      const key = below(at.directory, name)
      const stats = lstatSync(placeOf(from, key), { bigint: true, throwIfNoEntry: false })
      if (stats === undefined) continue
      if (name === '.git' && stats.isDirectory()) {
        copyGitDirectory(bytesOf(from, key), bytesOf(to, key), count)
        continue
      }
      if (key === '.git') continue
      const [entry, names] = copyEntry(key, stats, { from, to, how, count, blobOf, links, copies })
      found.set(key, entry)
      if (names === undefined) continue
      pending.push({ directory: key, names })
      filled.push(key)
    }
  }
  linkNested(from, `${to}/.git`, to, count)
  // Directories get their mode and time only now, because the mode may forbid adding entries, and adding entries changes the time.
  for (const key of filled.toReversed()) {
    const stats = lstatSync(placeOf(from, key), { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) continue
    if (key !== '') chmodSync(placeOf(to, key), Number(stats.mode & 0o7777n))
    utimesSync(placeOf(to, key), seconds(stats.atimeNs), seconds(stats.mtimeNs))
  }
  fitIndex(to, index, copies)
  return found
}

/** The names of a directory's entries, with one character for each byte. @throws the system's error */
function namesIn(directory: string | Buffer): readonly string[] {
  return readdirSync(directory, 'latin1')
}

/**
 * Adapts the copy of git's index: where an entry matched an original file, it now matches the copy of that file. If git wrote the index while the tree was
 * copied, its copy stays as it is, and git reads the files.
 */
function fitIndex(to: string, index: CleanFiles['index'], copies: ReadonlyMap<string, CopyStats | 'linked'>): void {
  const file = `${to}/.git/index`
  if (index === undefined || readHostFile(file, { maxBytes: largestIndex })?.equals(index.content) !== true) return
  const fitted = indexOfCopy(index.content, index.entries, (key) => {
    const stats = copies.get(key)
    return stats === 'linked' ? lstatSync(placeOf(to, key), { bigint: true, throwIfNoEntry: false }) : stats
  })
  writeFileSync(file, fitted)
}

type Copying = Pick<CopyOptions, 'how'> & {
  readonly from: string
  readonly to: string
  readonly count: (size: number) => void
  readonly blobOf: CleanBlobs
  /**
   * The first copy of each file that has several hard links, by device and inode. The other names of the file become hard links to this copy, so that all of
   * them still name one file.
   */
  readonly links: Map<string, string>
  /** The metadata of copies of files that match git's index. `linked`: it must be read at the end, because each further hard link changes it. */
  readonly copies: Map<string, CopyStats | 'linked'>
}

/** Copies an entry. Of a directory, it copies nothing but the directory itself, and returns the names of the entries to copy. */
function copyEntry(key: string, stats: BigIntStats, copying: Copying): readonly [Original, names?: readonly string[]] {
  const { from, to, how, count, blobOf, links, copies } = copying
  const mode = Number(stats.mode & 0o7777n)
  const [source, target] = [placeOf(from, key), placeOf(to, key)]
  const leftOut: Original = { key, kind: 'left-out', mode }
  try {
    if (stats.isDirectory()) {
      // This throws if the directory is unreadable. In that case, the directory is left out.
      const names = namesIn(source)
      mkdirSync(target, { mode: 0o700 })
      return [{ key, kind: 'directory', mode }, names]
    }
    if (stats.isSymbolicLink()) {
      const link = readlinkSync(source, 'buffer')
      symlinkSync(link, target)
      return [{ key, kind: 'link', mode, target: link.toString('latin1'), was: stampOf(stats) }]
    }
    if (!stats.isFile()) return [leftOut]
    count(Number(stats.size))
    const isLinked = stats.nlink > 1n
    const inode = isLinked ? `${stats.dev} ${stats.ino}` : ''
    const first = isLinked ? links.get(inode) : undefined
    if (first !== undefined) linkSync(placeOf(to, first), target)
    const copy = first === undefined ? copyFile(source, target, stats, how) : setTimes(target, stats)
    if (isLinked && first === undefined) links.set(inode, key)
    const blob = blobOf(key, stats)
    const file = {
      key,
      kind: 'file' as const,
      mode,
      size: Number(stats.size),
      was: stampOf(stats),
      stamp: stampOf(copy),
    }
    if (blob === undefined) return [file]
    const { ctimeNs, mtimeNs, dev, ino } = copy
    copies.set(key, isLinked ? 'linked' : { ctimeNs, mtimeNs, dev, ino })
    return [{ ...file, blob }]
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (inaccessible.has(code)) return [leftOut]
    if (how === 'reflink' && noClones.has(code))
      throw new CopyRefusal('no-clones', `${from} is on a file system that can't clone files`)
    throw error
  }
}

/** Errors that mean that an entry can't be read, or that it was removed or replaced after its metadata was read. */
const inaccessible: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ENOENT', 'ELOOP'])

/** Errors that mean that the file system can't share blocks, or that source and target are on different file systems. */
const noClones: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL', 'ENOTTY'])
