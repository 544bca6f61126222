import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import {
  decodeName,
  decodeText,
  encodePath,
  listEntries,
  openTreeBudget,
  objectPlaces,
  realpathSync,
  removeTree,
  writeAlternates,
  type TreeBudget,
} from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { betweenTries, busyWith, mostTries } from './busy-git.ts'
import { below } from './path-keys.ts'

/** A git directory, and where to copy it. Both are bytes, because a name may not be text. */
type GitCopy = {
  readonly from: Buffer
  readonly to: Buffer
  /** Decides by an entry's path in the git directory whether it is left out. Default: only what is never copied is left out. */
  readonly leavesOut?: (path: string) => boolean
}

/**
 * Copies git directories for a view of their work tree, all of them as they are at one moment. Objects aren't copied; the copy uses those of the original.
 * Data of other work trees, lock files of a running git, and files stored for `git lfs` are left out. A link in place of `HEAD` or `objects` is replaced by a
 * file or directory with the same meaning for git, because the sandbox follows no links in a git directory.
 *
 * @param copies several of them may have the same target
 * @param count called for each copied file
 * @throws TreeTooLarge if a directory has too many entries; UserError `sandboxUnavailable` if git changes the refs or the index again and again
 */
export async function copyGit(
  copies: readonly GitCopy[],
  count: (size: number) => void,
  budget?: TreeBudget,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    for (const { to } of copies) await empty(decodeText(to))
    const add = tries === 1 ? count : (): void => undefined
    const copied = copies.map((copy) => ({ copy, stamps: lookThrough(copy, tries === 1 ? budget : undefined, add) }))
    const [changed] = copied.flatMap(({ copy, stamps }) =>
      differences(stamps, lookThrough(copy)).map((path) => decodeText(bytesIn(copy.from, path))),
    )
    if (changed === undefined) return
    if (tries === mostTries) {
      const remedy = 'Wait until that has ended, or use --in-place, which works without a view.'
      throw new UserError('sandboxUnavailable', `The run's private view can't be made: ${busyWith(changed)} ${remedy}`)
    }
    await wait(betweenTries)
  }
}

async function empty(directory: string): Promise<void> {
  if (!existsSync(encodePath(directory))) return
  for (const { name } of listEntries(encodePath(directory))) await removeTree(`${directory}/${decodeName(name)}`)
}

/**
 * The files and directories that tell git which commits exist and what is checked out and staged (gitrepository-layout(5)). When git packs refs, it writes
 * them to one file and then removes them from others, so the files mean something only together. Other programs may write the rest at any time.
 */
const state = /^(?:HEAD|packed-refs|refs|reftable|index|sharedindex\..*|shallow)$/

/** The paths of the files that belong to git's state, each with a text that changes when the file does. */
type Stamps = ReadonlyMap<string, string>

/**
 * Looks through a git directory, and copies it if there is a `count`. Each file is looked at before it is copied: if all are the same when they are looked at
 * again after the last one was copied, then the copy is what the directory was at that moment.
 */
function lookThrough(
  { from, to, leavesOut = () => false }: GitCopy,
  budget: TreeBudget = openTreeBudget(decodeText(from)),
  count?: (size: number) => void,
): Stamps {
  const stamps = new Map<string, string>()
  const look = (directory: string, was: BigIntStats, isState: boolean, canBeTop: boolean): void => {
    const source = bytesIn(from, directory)
    if (count !== undefined) mkdirSync(bytesIn(to, directory), { mode: 0o755, recursive: true })
    // Names like `objects` and `worktrees` are special only in the top directory, which contains `HEAD`. Below it, they may be parts of branch names.
    const isTop = canBeTop && existsSync(bytesIn(source, 'HEAD'))
    for (const { name } of whileThere(source, was, () => budget.list(source)) ?? []) {
      const path = below(directory, name)
      if (leavesOut(path) || name.endsWith('.lock') || (isTop && (name === 'worktrees' || name === 'lfs'))) continue
      const [entry, target] = [bytesIn(from, path), bytesIn(to, path)]
      const isOfState = isState || (isTop && state.test(name))
      const stats = statsOf(entry)
      if (stats === undefined) continue
      if (isTop && name === 'objects' && !stats.isFile()) {
        if (count !== undefined) borrow(entry, target)
      } else if (stats.isDirectory()) look(path, stats, isOfState, canBeTop && !(isTop && /^(?:refs|logs)$/.test(name)))
      else if (stats.isFile() || stats.isSymbolicLink()) {
        if (isOfState) stamps.set(path, [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' '))
        if (count === undefined) continue
        if (stats.isFile()) count(Number(stats.size))
        whileThere(entry, stats, () => copyOne(entry, target, stats, isTop && name === 'HEAD'))
      }
    }
  }
  look('', lstatSync(from, { bigint: true }), false, true)
  return stamps
}

function copyOne(source: Buffer, target: Buffer, stats: BigIntStats, isHead: boolean): void {
  if (stats.isFile()) copyFileSync(source, target)
  else if (isHead) writeFileSync(target, headOfLink(source))
  else symlinkSync(readlinkSync(source, 'buffer'), target)
}

/** Does something with an entry that was there. Returns undefined if that failed because somebody has removed or replaced the entry since. */
function whileThere<T>(entry: Buffer, was: BigIntStats, act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    const is = statsOf(entry)
    if (is?.dev === was.dev && is.ino === was.ino && is.mode === was.mode) throw error
    return undefined
  }
}

/** The metadata of an entry; undefined if the entry, or a directory that contained it, is not there any more. */
function statsOf(entry: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(entry, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}

/** The paths of the files that differ, are missing or are new. */
function differences(were: Stamps, are: Stamps): readonly string[] {
  return [...new Set([...were.keys(), ...are.keys()])].filter((path) => were.get(path) !== are.get(path))
}

/** The content of a `HEAD` file that names the same branch as a given symlink. Old versions of git created `HEAD` as a symlink. */
function headOfLink(link: Buffer): Buffer {
  return Buffer.concat([Buffer.from('ref: '), readlinkSync(link, 'buffer'), Buffer.from('\n')])
}

/**
 * Makes a copied repository use the original's objects. If the original itself borrows objects from other repositories, the copy lists their directories too,
 * because in the view git can't follow the original's references to them.
 */
function borrow(objects: Buffer, to: Buffer): void {
  const places = [...objectPlaces(realpathSync(decodeText(objects)))]
  mkdirSync(bytesIn(to, 'info'), { recursive: true })
  mkdirSync(bytesIn(to, 'pack'))
  writeFileSync(bytesIn(to, 'info/alternates'), writeAlternates(places))
}

/**
 * Whether a repository of a view has its own objects. A view starts without objects, so the run must have added them, for example by committing.
 *
 * @param git the git directory
 */
export function hasOwnObjects(git: Buffer): boolean {
  const objects = bytesIn(git, 'objects')
  if (!existsSync(objects)) return false
  const [folders, packs] = [readdirSync(objects), bytesIn(objects, 'pack')]
  return folders.some((name) => /^[0-9a-f]{2}$/.test(name)) || (existsSync(packs) && readdirSync(packs).length > 0)
}

/** The path of an entry. In `path`, each character is one byte. */
function bytesIn(directory: Buffer, path: string): Buffer {
  return path === '' ? directory : Buffer.concat([directory, Buffer.from('/'), Buffer.from(path, 'latin1')])
}
