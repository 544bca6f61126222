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
  type BigIntStats,
} from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { cleanBlobs, type CleanBlobs } from './clean-blobs.ts'
import { copyGitDirectory } from './copy-git.ts'
import { copyLinkedGit, linkedGitOf, linkNested } from './linked-git.ts'
import { copySparse } from './tree-files.ts'
import { stampOf, type Manifest, type Original } from './view-manifest.ts'
import { below, bytesOf } from './path-keys.ts'

/** The size up to which a tree is copied; beyond it another way is better. */
export type CopyLimit = { readonly files: number; readonly bytes: number }

/** A tree can't be copied so: it is too large, or its file system clones no files. */
export class CopyRefusal extends Error {
  readonly why: 'large' | 'no-clones' | 'no-overlay'

  constructor(why: CopyRefusal['why'], message: string) {
    super(message)
    this.why = why
  }
}

type CopyOptions = {
  /** Whether blocks are shared with the original, and the copy is refused where that is impossible; or written anew. */
  readonly how: 'reflink' | 'copy'
  /** Counted while walking: a copy that is too large is cancelled early. Absent: no limit. */
  readonly limit?: CopyLimit | undefined
  readonly signal?: AbortSignal | undefined
}

/** How many entries are copied before others get a turn. */
const atOnce = 200

/**
 * Copies a tree with its modes and times, and records what it was copied from. It follows no symbolic link. A git directory comes without
 * its objects, which it borrows. What can't be copied (pipes, sockets, devices, what this user can't read) is left out and recorded.
 *
 * @param to a directory that doesn't exist yet
 * @throws CopyRefusal; what was copied until then stays
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
      throw new CopyRefusal('large', `${from} holds more than ${what}`)
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
  // Filled first: a mode may forbid that, and it changes the time.
  for (const key of filled.toReversed()) {
    const stats = lstatSync(bytesOf(from, key), { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) continue
    if (key !== '') chmodSync(bytesOf(to, key), Number(stats.mode & 0o7777n))
    utimesSync(bytesOf(to, key), seconds(stats.atimeNs), seconds(stats.mtimeNs))
  }
  return found
}

type Copying = Pick<CopyOptions, 'how'> & {
  readonly from: string
  readonly to: string
  readonly count: (size: number) => void
  readonly blobs: CleanBlobs
  /** The first copy of each file that has several names, by its device and inode: what is written through one name shows under the others. */
  readonly links: Map<string, string>
}

function copyEntry(key: string, stats: BigIntStats, { from, to, how, count, blobs, links }: Copying): Original {
  const mode = Number(stats.mode & 0o7777n)
  const [source, target] = [bytesOf(from, key), bytesOf(to, key)]
  const leftOut: Original = { key, kind: 'left-out', mode }
  try {
    if (stats.isDirectory()) {
      // One that can't be looked into has no entries to copy.
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
      throw new CopyRefusal('no-clones', `${from} is on a file system that clones no files`)
    throw error
  }
}

/** The size from which a file with holes keeps them in the copy: the system's own copy fills them. */
const sparseFrom = 1024n * 1024n

/** Errors of file systems without block sharing, and of copies across file systems. */
const noClones: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL', 'ENOTTY'])

function seconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e9
}
