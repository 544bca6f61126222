import { accessSync, constants, existsSync, readdirSync, readlinkSync, statSync, type BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { parseIndex, readHostFile, type IndexEntry } from '../../../sandbox/index.ts'
import { largestIndex } from '../clean-files.ts'
import { compareWith, entryOf, type Difference, type DifferenceBudget } from '../find-differences.ts'
import type { TreeLook } from '../look-through.ts'
import { stampOf, type Manifest, type Original } from '../view-manifest.ts'
import { below, bytesOf, directoryOf } from '../path-keys.ts'
import { readCleanFiles } from './note-clean-files.ts'
import { readWithheld } from './withhold-secrets.ts'
import { compareLowerDirectories, statsOf, type LowerDirectories } from './lower-directories.ts'
import type { OverlayStorage } from './storage.ts'

/** A tree with a mounted overlay. */
type OverlayTree = { readonly lower: string; readonly merged: string; readonly storage: OverlayStorage }

/**
 * The differences between an overlay and the tree below it, and what is known about the state that each differing path had when the view was made.
 */
type OverlayDifferences = {
  readonly differences: readonly Difference[]
  readonly manifest: Manifest
  /** The keys of directories in which changes can't be found, because the user can't read them in the view or in the tree below. */
  readonly unreadable: readonly string[]
  /** Returns the state that a path had when the view was made; undefined if it didn't exist. */
  readonly originalAt: (key: string) => Original | undefined
}

const atOnce = 500

/**
 * Finds the differences between an overlay and the tree below it. Only the directories that exist in the upper directory are examined, so the time
 * depends on the number of changes. To find out what an entry of the upper directory means, the merged view is compared with the lower tree. Extended
 * attributes would show this too (for example, whether a directory is opaque), but Node can't read them. If it is unclear whether the run removed an
 * entry, the entry counts as removed, but the earlier content of its files counts as unknown.
 *
 * @param look the directories that were made readable for this, and those that can't be read, which count as empty
 * @param repository called with each directory whose repository the run may have changed
 */
export async function findOverlayDifferences(
  tree: OverlayTree,
  { closed, unreadable }: TreeLook,
  repository: (key: string) => void,
  budget: DifferenceBudget,
): Promise<OverlayDifferences> {
  const { lower, merged, storage } = tree
  const { known, directories } = beginningOf(tree)
  const manifest = new Map<string, Original>()
  const found: Difference[] = []
  let looked = 0
  const turn = async (key: string): Promise<void> => {
    budget.walk.count(key.length)
    if (++looked % atOnce === 0) await setImmediate()
  }
  const note = (key: string, difference: Difference | undefined, original: Original | undefined): void => {
    if (difference === undefined) return
    budget.found.count(key.length)
    if (original !== undefined) manifest.set(key, original)
    found.push(difference)
  }
  const removed = async (top: string, isClear = true): Promise<void> => {
    const pending = [top]
    for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
      await turn(key)
      const original = isClear ? known(key) : unknownOf(known(key))
      const isGone = original !== undefined && original.kind !== 'left-out'
      if (isGone) note(key, { key, before: entryOf(original), after: { kind: 'absent' } }, original)
      if (original?.kind === 'directory') pending.push(...plainNames(lower, key).map((name) => below(key, name)))
    }
  }
  const isPrivate = existsSync(bytesOf(storage.repository, '.git'))
  if (isPrivate) repository('')
  const hidden: string[] = []
  const pending = ['']
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (unreadable.has(directory)) continue
    if (!isReadable(lower, directory)) {
      // If only the directory itself is in the upper layer, nothing in it was changed. It can be there merely because the search for git directories made it
      // readable for a moment.
      const isUntouched = directories.isShown(directory) && namesIn(storage.upper, directory).length === 0
      if (!isUntouched) hidden.push(directory)
      continue
    }
    const shown = new Set(namesIn(merged, directory))
    for (const name of plainNames(lower, directory)) {
      if (shown.has(name)) continue
      const why = directories.whyMissing(directory, name)
      if (why !== 'never-shown') await removed(below(directory, name), why === 'removed')
    }
    for (const name of namesIn(storage.upper, directory)) {
      const key = below(directory, name)
      await turn(key)
      const now = statsOf(merged, key)
      // This is a whiteout. The file that it hides was handled above.
      if (now === undefined) continue
      if (name === '.git' && now.isDirectory()) {
        // If the tree has a git directory, that is mounted over this entry, which is then empty.
        const isMounted = directory === '' && isPrivate
        if (!isMounted) repository(directory)
        continue
      }
      const original = known(key)
      note(key, compareWith(merged, key, now, original, closed.get(key)), original)
      if (now.isDirectory()) pending.push(key)
      else if (original?.kind === 'directory') {
        for (const inside of plainNames(lower, key)) await removed(below(key, inside))
      }
    }
  }
  return {
    differences: found.toSorted((one, other) => (one.key < other.key ? -1 : 1)),
    manifest,
    originalAt: known,
    unreadable: [...unreadable, ...hidden],
  }
}

/** The same file, as if nothing were known about its content. */
function unknownOf(original: Original | undefined): Original | undefined {
  if (original?.kind !== 'file') return original
  const { key, kind, mode, size } = original
  return { key, kind, mode, size, was: 'unknown', stamp: '' }
}

/** What is known about the lower tree at the time when the view was made. */
type Beginning = {
  /**
   * Finds the state that a path had. If the path hasn't changed in the lower tree since then, its state in the lower tree is returned. Otherwise the state
   * comes from git's index of that time, and the bytes may be available as a git object. If the index doesn't list the
   * path, or the file may have differed from the index, the state is unknown.
   */
  readonly known: (key: string) => Original | undefined
  readonly directories: LowerDirectories
}

function beginningOf({ lower, merged, storage }: OverlayTree): Beginning {
  const { ctimeNs: began } = statSync(storage.began, { bigint: true })
  // Some file systems store times in whole seconds. On these, a file that changed in the second in which the view was made counts as changed.
  const isNew = ({ ctimeNs }: BigIntStats): boolean =>
    ctimeNs >= began || (ctimeNs % 1_000_000_000n === 0n && ctimeNs >= began - (began % 1_000_000_000n))
  const { upper, root } = storage
  const directories = compareLowerDirectories({ lower, merged, upper, root }, isNew)
  // A file that was moved here together with its directory has an old change time, but the run has never seen it.
  const isTouched = (key: string, stats: BigIntStats): boolean =>
    isNew(stats) || (key !== '' && !directories.isSame(directoryOf(key)))
  let index: ReadonlyMap<string, IndexEntry> | undefined
  const { wasClean } = readCleanFiles(storage)
  const tracked = (key: string, now?: BigIntStats): Original | undefined => {
    const entry = (index ??= readIndex(storage.index)).get(key)
    if (entry === undefined) return undefined
    const original = originalOf(key, entry)
    return wasClean(key, now) ? original : unknownOf(original)
  }
  const secrets = readWithheld(storage)
  const known = (key: string): Original | undefined => {
    if (secrets.has(key)) return { key, kind: 'left-out', mode: 0, isSecret: true }
    const now = statsOf(lower, key)
    if (now === undefined) {
      // The path has been removed since, or never existed. The change time of the nearest existing directory shows which, because adding or removing an entry
      // changes it.
      let at = directoryOf(key)
      while (at !== '' && statsOf(lower, at) === undefined) at = directoryOf(at)
      const nearest = statsOf(lower, at)
      return nearest === undefined || isNew(nearest) || !directories.isSame(at) ? tracked(key) : undefined
    }
    const mode = Number(now.mode & 0o7777n)
    if (now.isDirectory()) {
      const isOther = isTouched(key, now)
      const file = isOther ? tracked(key) : undefined
      if (file !== undefined) return file
      // If the original has changed since, and its mode isn't that of the view, it is unknown who changed the mode.
      const shown = isOther ? statsOf(merged, key) : undefined
      const isUnknown = shown?.isDirectory() === true && Number(shown.mode & 0o7777n) !== mode
      return { key, kind: 'directory', mode, ...(isUnknown ? { was: 'unknown' } : {}) }
    }
    const isPlain = now.isFile() || now.isSymbolicLink()
    if (!isPlain) return { key, kind: 'left-out', mode }
    if (isTouched(key, now)) {
      return tracked(key, now) ?? { key, kind: 'file', mode, size: Number(now.size), was: 'unknown', stamp: '' }
    }
    const was = stampOf(now)
    if (now.isFile()) return { key, kind: 'file', mode, size: Number(now.size), was, stamp: '' }
    return { key, kind: 'link', mode, target: readlinkSync(bytesOf(lower, key), 'latin1'), was }
  }
  return { known, directories }
}

/** The offset of the file size in an index entry's stat data (gitformat-index(5)). */
const sizeAt = 36

/** The mode of a submodule, which is a directory. */
const gitlink = 0o160000

function originalOf(key: string, { mode, stat, oid }: IndexEntry): Original {
  const permissions = (mode & 0o111) === 0 ? 0o644 : 0o755
  return { key, kind: 'file', mode: permissions, size: stat.readUInt32BE(sizeAt), was: 'unknown', stamp: '', blob: oid }
}

function readIndex(file: string): ReadonlyMap<string, IndexEntry> {
  const content = readHostFile(file, { maxBytes: largestIndex })
  const entries = content && (parseIndex(content, 20) ?? parseIndex(content, 32))
  const files = (entries ?? []).filter(({ stage, mode }) => stage === 0 && mode !== gitlink)
  return new Map(files.map((entry) => [entry.path, entry]))
}

/** The names in a directory, except `.git`; none if it isn't a directory. */
function plainNames(root: string, key: string): readonly string[] {
  return namesIn(root, key).filter((name) => name !== '.git')
}

/** Whether this user may list a directory and enter it. True for a path that isn't a directory. */
function isReadable(root: string, key: string): boolean {
  if (statsOf(root, key)?.isDirectory() !== true) return true
  try {
    accessSync(bytesOf(root, key), constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function namesIn(root: string, key: string): readonly string[] {
  if (statsOf(root, key)?.isDirectory() !== true) return []
  return readdirSync(bytesOf(root, key), { encoding: 'latin1' })
}
