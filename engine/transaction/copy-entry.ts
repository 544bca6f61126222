import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  type BigIntStats,
} from 'node:fs'
import type { ListedEntry, TreeBudget } from '../../sandbox/index.ts'
import { copyFile, seconds, setTimes, type HowToCopy } from './copy-file.ts'
import { CopyRefusal } from './copy-limit.ts'
import { placeOf } from './path-keys.ts'
import { stampOf, type Original } from './view-manifest.ts'

/** How the entries of a tree are copied. */
export type Copying = {
  readonly from: string
  readonly to: string
  readonly how: HowToCopy
  /**
   * The first copy of each file that has several hard links, by device and inode. The other names of the file become hard links to this copy, so that all of
   * them still name one file.
   */
  readonly links: Map<string, string>
  readonly budget: TreeBudget
}

/** An entry that was copied, or left out. `copy`: the metadata of a file's copy; `entries`: what a directory contains, none of which is copied yet. */
type CopiedEntry =
  | { readonly kind: 'file'; readonly copy: BigIntStats; readonly isLinked: boolean }
  | { readonly kind: 'directory'; readonly mode: number; readonly entries: readonly ListedEntry[] }
  | Extract<Original, { kind: 'link' | 'left-out' }>

/**
 * Copies an entry, but not what a directory contains.
 *
 * @param stats the metadata of the original
 * @throws the system's error; CopyRefusal if the file system can't clone files; TreeTooLarge
 */
export function copyEntry(key: string, stats: BigIntStats, { from, to, how, links, budget }: Copying): CopiedEntry {
  const [source, target] = [placeOf(from, key), placeOf(to, key)]
  const mode = Number(stats.mode & 0o7777n)
  const leftOut = { key, kind: 'left-out' as const, mode }
  try {
    if (stats.isDirectory()) {
      // This throws if the directory is unreadable. In that case, the directory is left out.
      const entries = budget.list(source)
      mkdirSync(target, { mode: 0o700 })
      return { kind: 'directory', mode, entries }
    }
    if (stats.isSymbolicLink()) {
      const link = readlinkSync(source, 'buffer')
      symlinkSync(link, target)
      return { key, kind: 'link', mode, target: link.toString('latin1'), was: stampOf(stats) }
    }
    if (!stats.isFile()) return leftOut
    if (stats.nlink === 1n) return { kind: 'file', copy: copyFile(source, target, stats, how), isLinked: false }
    const inode = `${stats.dev} ${stats.ino}`
    const first = links.get(inode)
    if (first !== undefined) linkSync(placeOf(to, first), target)
    const copy = first === undefined ? copyFile(source, target, stats, how) : setTimes(target, stats)
    if (first === undefined) links.set(inode, key)
    return { kind: 'file', copy, isLinked: true }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (inaccessible.has(code)) return leftOut
    if (how === 'reflink' && noClones.has(code))
      throw new CopyRefusal('no-clones', `${from} is on a file system that can't clone files`)
    throw error
  }
}

/**
 * Gives a copied directory its mode and the times of its original. Call it when the directory has all its entries: the mode may forbid adding any, and adding one
 * changes the times. The copy of the root keeps its mode, which lets nobody else in.
 *
 * @param mode the mode that was noted for the original, even if somebody has changed or removed it since: a copy with another mode would count as changed by
 * the run
 */
export function finishDirectory(
  key: string,
  mode: number | undefined,
  { from, to }: Pick<Copying, 'from' | 'to'>,
): void {
  if (!existsSync(placeOf(to, key))) return
  const stats = lstatSync(placeOf(from, key), { bigint: true, throwIfNoEntry: false })
  if (key !== '' && mode !== undefined) chmodSync(placeOf(to, key), mode)
  if (stats !== undefined) utimesSync(placeOf(to, key), seconds(stats.atimeNs), seconds(stats.mtimeNs))
}

/** Errors that mean that an entry can't be read, or that it was removed or replaced after its metadata was read. */
const inaccessible: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ENOENT', 'ELOOP'])

/** Errors that mean that the file system can't share blocks, or that source and target are on different file systems. */
const noClones: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL', 'ENOTTY'])
