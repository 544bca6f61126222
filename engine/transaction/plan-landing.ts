import { createHash } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import process from 'node:process'
import {
  mergeText,
  openTree,
  PathError,
  ReadError,
  renderFailure,
  type Change,
  type ChangeSet,
  type DirectoryChange,
  type FileState,
  type Tree,
} from '../../apply-patch/index.ts'
import { sizeOf, type RunChange, type Side } from './change-record.ts'
import { checkKept, keptBytes, keptPiece } from './kept-files.ts'

/** The result of a landing that hasn't happened yet. */
type LandingPlan = {
  readonly changeSet: ChangeSet
  /** Paths that somebody else changed too, in other places: both changes are in the result. */
  readonly merged: readonly string[]
  /** Paths that can't be landed, each with why. Nothing lands then. */
  readonly conflicts: readonly Conflict[]
  /** How many are as the run left them already. */
  readonly already: number
}

/** A path that can't be landed. */
export type Conflict = { readonly path: string; readonly why: string }

/**
 * Plans to apply a run's changes to the trees that they were made for. The current state is checked once more when the plan is committed.
 *
 * @param directory the session's, where bytes are stored
 */
export function planLanding(changes: readonly RunChange[], directory: string): LandingPlan {
  const roots = [...new Set(changes.map(({ root }) => root))]
  const [all, directories]: [Change[], DirectoryChange[]] = [[], []]
  const [merged, conflicts]: [string[], Conflict[]] = [[], []]
  let already = 0
  for (const root of roots) {
    const own = changes.filter((each) => each.root === root)
    const tree = openTree(root, { unsafePaths: false })
    const gone = new Set(own.filter(isGone).map(({ path }) => `${root}/${path}`))
    for (const change of own) {
      const name = `${root}/${change.path}`
      const planned = plan(change, tree, gone, directory)
      if ('why' in planned) conflicts.push({ path: name, why: planned.why })
      else if ('nothing' in planned) already += 1
      else {
        if (planned.change !== undefined) all.push(planned.change)
        if (planned.directory !== undefined) directories.push(planned.directory)
        if (planned.isMerged === true) merged.push(name)
      }
    }
  }
  const root = commonDirectory(roots)
  const summary = all.map((each) => ({ kind: kindOf(each), path: each.place.path }))
  const within = roots.length === 1 ? {} : { within: roots }
  return {
    changeSet: { root, ...within, unsafePaths: false, changes: all, directories, summary, warnings: [] },
    merged,
    conflicts,
    already,
  }
}

type Planned =
  | { readonly why: string }
  | { readonly nothing: true }
  | { readonly change?: Change; readonly directory?: DirectoryChange; readonly isMerged?: boolean }

/** Whether a file or link was replaced by nothing or by a directory: entries below it may be added. */
function isGone({ before, after }: RunChange): boolean {
  return (
    (before.type === 'file' || before.type === 'symlink') && (after.type === 'absent' || after.type === 'directory')
  )
}

function plan(change: RunChange, tree: Tree, gone: ReadonlySet<string>, directory: string): Planned {
  const { path, before, after } = change
  const key = `${tree.root}/${path}`
  try {
    const place = tree.locateEntry(path, (each) => gone.has(each))
    if (place.key !== key) return { why: 'a directory on the way to it is a link now' }
    const found = lookAt(tree, place)
    const { now } = found
    if (after.type === 'directory') return planDirectory(key, before, after.mode, now, place)
    if (before.type === 'directory' && after.type === 'absent') {
      return now.type === 'directory' ? { directory: { type: 'remove', key } } : { nothing: true }
    }
    if (isSide(found, after)) return { nothing: true }
    if (before.type === 'directory') {
      if (now.type !== 'directory' && now.type !== 'absent') return { why: 'somebody else put something in its place' }
      const write = writeOf(place, { type: 'absent' }, after, directory)
      return write === undefined
        ? { why: 'what it should hold is not known' }
        : { change: write, ...(now.type === 'directory' ? { directory: { type: 'remove', key } } : {}) }
    }
    if (isSide(found, before)) {
      if (after.type === 'absent') return { change: { type: 'remove', place, before: now } }
      if (belongsToOthers(now, key)) return { why: 'it belongs to another user, and may not be written by this one' }
      const write = writeOf(place, now, after, directory)
      return write === undefined ? { why: 'what it should hold is not known' } : { change: write }
    }
    const sizes = [now.type === 'unread' ? now.size : 0, sizeOf(before), sizeOf(after)]
    if (Math.max(...sizes) > largestMerged)
      return { why: `somebody else changed it, and it is too large to be merged (more than ${largestMerged} bytes)` }
    return merge(place, tree.read(place), before, after, directory)
  } catch (error) {
    // Below what is a file now there is nothing that could be removed.
    const isBelowFile = error instanceof PathError && error.code === 'not-a-directory'
    if (isBelowFile && after.type === 'absent') return { nothing: true }
    if (error instanceof PathError || error instanceof ReadError) return { why: renderFailure(error).trim() }
    throw error
  }
}

function planDirectory(key: string, before: Side, mode: number, now: FileState, place: Change['place']): Planned {
  const directory: DirectoryChange = { type: 'make', key, mode }
  if (now.type === 'directory') {
    if (before.type !== 'directory') return { nothing: true }
    return { directory: { type: 'mode', key, before: before.mode, mode } }
  }
  if (now.type === 'absent') return { directory }
  const isAsItWas = (now.type === 'unread' ? 'file' : now.type) === before.type
  if (!isAsItWas || (now.type !== 'unread' && now.type !== 'symlink'))
    return { why: 'something else is in its place now' }
  return { change: { type: 'remove', place, before: now }, directory }
}

/** The view's copy of such a file belonged to this user, so commands could write what they can't in the tree. */
function belongsToOthers(now: FileState, file: string): boolean {
  if (now.type !== 'unread' || now.uid === process.geteuid?.()) return false
  try {
    accessSync(file, constants.W_OK)
    return false
  } catch {
    return true
  }
}

/** What is at a place, and the SHA-256 of a file's bytes, which aren't held. */
type Found = { readonly now: FileState; readonly hash: string }

function lookAt(tree: Tree, place: Change['place']): Found {
  // A file that is replaced meanwhile is looked at from its beginning again.
  let sum = createHash('sha256')
  const now = tree.look(place, (chunk, at) => {
    if (at === 0) sum = createHash('sha256')
    sum.update(chunk)
  })
  return { now, hash: now.type === 'unread' ? sum.digest('hex') : '' }
}

/** Whether the current entry is what one side has: its bytes, its mode, its target. */
function isSide({ now, hash }: Found, side: Side): boolean {
  switch (side.type) {
    case 'absent':
      return now.type === 'absent'
    case 'symlink':
      return now.type === 'symlink' && now.target === side.target
    case 'directory':
      return now.type === 'directory'
    case 'file':
      return now.type === 'unread' && now.mode === side.mode && now.size === side.size && side.hash === hash
    default:
      return side satisfies never
  }
}

/** Larger files are read in parts while they are written. */
const heldSize = 4096

/** @param other what to write instead of what the side holds */
function writeOf(
  place: Change['place'],
  now: FileState,
  side: Side,
  directory: string,
  other?: { readonly bytes: Buffer; readonly mode: number },
): Change | undefined {
  const owner = now.type === 'file' || now.type === 'unread' ? { uid: now.uid, gid: now.gid } : undefined
  if (side.type === 'symlink') {
    return { type: 'write', place, before: now, content: [], mode: undefined, owner: undefined, symlink: side.target }
  }
  if (side.type !== 'file' || side.hash === null) return undefined
  const write = { type: 'write', place, before: now, owner, evenReadOnly: true } as const
  if (other !== undefined) return { ...write, content: [other.bytes], mode: other.mode }
  if (side.size <= heldSize) return { ...write, content: [keptBytes(directory, side.hash)], mode: side.mode }
  checkKept(directory, side.hash, side.size)
  const pieces = [keptPiece(directory, side.hash, side.size)]
  return { ...write, content: [], pieces, mode: side.mode }
}

/** To merge larger files would take several times their size of memory. */
const largestMerged = 64 * 1024 * 1024

/** Merges the run's and somebody else's changes of one file. */
function merge(place: Change['place'], now: FileState, before: Side, after: Side, directory: string): Planned {
  if (now.type === 'absent') return { why: 'somebody else removed it' }
  if (before.type === 'absent') return { why: 'somebody else made one of this name' }
  if (after.type === 'absent') return { why: 'the run removed it, and somebody else changed it' }
  if (now.type !== 'file' || before.type !== 'file' || after.type !== 'file') {
    return { why: 'somebody else put something of another kind in its place' }
  }
  if (before.hash === null || after.hash === null) {
    return { why: 'somebody else changed it, and nobody knows what it held before' }
  }
  const [base, theirs] = [keptBytes(directory, before.hash), keptBytes(directory, after.hash)]
  const bytes = mergeText(base, now.bytes, theirs)
  const mode = now.mode === before.mode ? after.mode : after.mode === before.mode ? now.mode : undefined
  if (bytes === undefined) return { why: 'somebody else changed the same lines' }
  if (mode === undefined && now.mode !== after.mode) return { why: 'somebody else gave it another mode' }
  const other = { bytes, mode: mode ?? after.mode }
  if (bytes.equals(now.bytes) && other.mode === now.mode) return { nothing: true }
  const write = writeOf(place, now, after, directory, other)
  return write === undefined ? { why: 'what it should hold is not known' } : { change: write, isMerged: true }
}

function kindOf(change: Change): 'A' | 'M' | 'D' {
  if (change.type === 'remove') return 'D'
  return change.before.type === 'absent' ? 'A' : 'M'
}

/** The directory that holds all of some; the one itself where it is alone. */
function commonDirectory(paths: readonly string[]): string {
  const [first = '/', ...others] = paths
  let common = first.split('/')
  for (const path of others) {
    const parts = path.split('/')
    const differs = common.findIndex((name, index) => name !== parts[index])
    common = differs === -1 ? common : common.slice(0, differs)
  }
  return common.join('/') === '' ? '/' : common.join('/')
}
