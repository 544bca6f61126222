import {
  chmodSync,
  constants,
  copyFileSync,
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
import { indexOfCopy, readHostFile } from '../../sandbox/index.ts'
import { cleanBlobs, largestIndex, type CleanBlobs } from './clean-blobs.ts'
import { copyGitDirectory } from './copy-git.ts'
import { copyLinkedGit, linkedGitOf, linkNested } from './linked-git.ts'
import { copySparse } from './tree-files.ts'
import { stampOf, type Manifest, type Original } from './view-manifest.ts'
import { below, bytesOf } from './path-keys.ts'

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
  readonly how: 'reflink' | 'copy'
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
  const [filled, pending] = [[''], ['']]
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
  const blobs = cleanBlobs(from)
  const links = new Map<string, string>()
  const linked = linkedGitOf(from)
  if (linked !== undefined) copyLinkedGit(linked, `${to}/.git`, count)
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { name } of readdirSync(bytesOf(from, directory), { withFileTypes: true, encoding: 'buffer' })) {
      if (++looked % atOnce === 0) await setImmediate()
      signal?.throwIfAborted()
      const key = below(directory, name.toString('latin1'))
      const stats = lstatSync(bytesOf(from, key), { bigint: true, throwIfNoEntry: false })
      if (stats === undefined) continue
      if (stats.isDirectory() && name.toString('latin1') === '.git') {
        copyGitDirectory(bytesOf(from, key), bytesOf(to, key), count)
        continue
      }
      if (key === '.git') continue
      const entry = copyEntry(key, stats, { from, to, how, count, blobs, links })
      found.set(key, entry)
      if (entry.kind !== 'directory') continue
      pending.push(key)
      filled.push(key)
    }
  }
  linkNested(from, `${to}/.git`, to, count)
  // Directories get their mode and time only now, because the mode may forbid adding entries, and adding entries changes the time.
  for (const key of filled.toReversed()) {
    const stats = lstatSync(bytesOf(from, key), { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) continue
    if (key !== '') chmodSync(bytesOf(to, key), Number(stats.mode & 0o7777n))
    utimesSync(bytesOf(to, key), seconds(stats.atimeNs), seconds(stats.mtimeNs))
  }
  fitIndex(to, found)
  return found
}

/** Adapts the copy of git's index: where an entry matched an original file, it now matches the copy of that file. */
function fitIndex(to: string, found: Manifest): void {
  const file = `${to}/.git/index`
  const content = readHostFile(file, { maxBytes: largestIndex })
  if (content === undefined) return
  const fitted = indexOfCopy(content, (key) => {
    const original = found.get(key)
    const isClean = original?.kind === 'file' && original.blob !== undefined
    return isClean ? lstatSync(bytesOf(to, key), { bigint: true, throwIfNoEntry: false }) : undefined
  })
  writeFileSync(file, fitted)
}

type Copying = Pick<CopyOptions, 'how'> & {
  readonly from: string
  readonly to: string
  readonly count: (size: number) => void
  readonly blobs: CleanBlobs
  /**
   * The first copy of each file that has several hard links, by device and inode. The other names of the file become hard links to this copy, so that all of
   * them still name one file.
   */
  readonly links: Map<string, string>
}

function copyEntry(key: string, stats: BigIntStats, { from, to, how, count, blobs, links }: Copying): Original {
  const mode = Number(stats.mode & 0o7777n)
  const [source, target] = [bytesOf(from, key), bytesOf(to, key)]
  const leftOut: Original = { key, kind: 'left-out', mode }
  try {
    if (stats.isDirectory()) {
      // This throws if the directory is unreadable. In that case, the directory is left out.
      readdirSync(source, { encoding: 'buffer' })
      mkdirSync(target, { mode: 0o700 })
      return { key, kind: 'directory', mode }
    }
    if (stats.isSymbolicLink()) {
      const link = readlinkSync(source, 'buffer')
      symlinkSync(link, target)
      return { key, kind: 'link', mode, target: link.toString('latin1'), was: stampOf(stats) }
    }
    if (!stats.isFile()) return leftOut
    count(Number(stats.size))
    const flag = how === 'reflink' ? constants.COPYFILE_FICLONE_FORCE : 0
    const inode = `${stats.dev} ${stats.ino}`
    const first = stats.nlink > 1n ? links.get(inode) : undefined
    const isSparse = how === 'copy' && stats.size > sparseFrom && stats.blocks * 512n < stats.size
    if (first === undefined && isSparse) copySparse(source, target, mode)
    else if (first === undefined) copyFileSync(source, target, constants.COPYFILE_EXCL | flag)
    else linkSync(bytesOf(to, first), target)
    if (stats.nlink > 1n && first === undefined) links.set(inode, key)
    utimesSync(target, seconds(stats.atimeNs), seconds(stats.mtimeNs))
    const stamp = stampOf(lstatSync(target, { bigint: true }))
    const blob = blobs(key, stats)
    const file = { key, kind: 'file' as const, mode, size: Number(stats.size), was: stampOf(stats), stamp }
    return blob === undefined ? file : { ...file, blob }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EACCES' || code === 'EPERM' || code === 'ENOENT') return leftOut
    if (how === 'reflink' && noClones.has(code))
      throw new CopyRefusal('no-clones', `${from} is on a file system that can't clone files`)
    throw error
  }
}

/** Sparse files that are larger than this, in bytes, stay sparse in the copy. The operating system's function for copying would fill their holes. */
const sparseFrom = 1024n * 1024n

/** Errors that mean that the file system can't share blocks, or that source and target are on different file systems. */
const noClones: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL', 'ENOTTY'])

function seconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e9
}
