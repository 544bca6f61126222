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
import { commonDirectory } from './common-directory.ts'
import { checkKept, keptBytes, keptPiece } from './kept-files.ts'
import { belongsToOthers, isSide, lookAt, type Found } from './look-at.ts'
import { findStaying } from './find-staying.ts'
import { changedAttributes, hasNewAttributes } from './merge-rules.ts'
import { lastSides } from './note-landed.ts'
import type { ViewState } from './view-state.ts'

/** A plan for landing changes. Nothing has been changed yet. */
type LandingPlan = {
  readonly changeSet: ChangeSet
  /** The changes that are written as they are in the view, and not merged with somebody else's. */
  readonly unmerged: readonly RunChange[]
  /** Files that someone else also changed, but on other lines. The result contains both changes. */
  readonly merged: readonly string[]
  /** Paths that can't land, each with the reason. If there are any, nothing lands. */
  readonly conflicts: readonly Conflict[]
  /** The number of changed paths that already match the run's result, so that nothing has to land there. */
  readonly already: number
}

/** A path that can't land. */
export type Conflict = { readonly path: string; readonly why: string }

/**
 * Plans how to apply a run's changes to their trees. The state of the trees is checked once more when the plan is committed.
 *
 * @param directory the session's folder, where the contents are stored
 * @param applied the states of paths that the session has landed before, which replace the states before the run
 * @param recorded when the changes were recorded. Files whose git attributes have changed since aren't merged. Default: unknown, and attributes count as unchanged
 */
export function planLanding(
  changes: readonly RunChange[],
  directory: string,
  applied: ViewState['applied'],
  recorded?: Date,
): LandingPlan {
  const sideOf = lastSides(applied)
  const roots = [...new Set(changes.map(({ root }) => root))]
  const [all, directories]: [Change[], DirectoryChange[]] = [[], []]
  const [merged, conflicts]: [string[], Conflict[]] = [[], []]
  const unmerged: RunChange[] = []
  let already = 0
  for (const root of roots) {
    const own = changes.filter((each) => each.root === root)
    const tree = openTree(root, { unsafePaths: false })
    const ours = own.filter((change) => [change.before, change.after, sideOf(change)].some(isEntry))
    const entries = new Set(ours.map(({ path }) => `${root}/${path}`))
    const leaving = own.filter(({ after }) => after.type === 'absent').map(({ path }) => `${root}/${path}`)
    const staysIn = findStaying(new Set(leaving))
    for (const change of own) {
      const name = `${root}/${change.path}`
      const planned = plan(change, sideOf(change), tree, { entries, staysIn, recorded }, directory)
      if ('why' in planned) conflicts.push({ path: name, why: planned.why })
      else if ('nothing' in planned) already += 1
      else {
        if (planned.change !== undefined) all.push(planned.change)
        if (planned.directory !== undefined) directories.push(planned.directory)
        if (planned.isMerged === true) merged.push(name)
        else unmerged.push(change)
      }
    }
  }
  const root = commonDirectory(roots)
  const summary = all.map((each) => ({ kind: kindOf(each), path: each.place.path }))
  const within = roots.length === 1 ? {} : { within: roots }
  return {
    changeSet: { root, ...within, unsafePaths: false, changes: all, directories, summary, warnings: [] },
    unmerged,
    merged,
    conflicts,
    already,
  }
}

type Planned =
  | { readonly why: string }
  | { readonly nothing: true }
  | { readonly change?: Change; readonly directory?: DirectoryChange; readonly isMerged?: boolean }

/** Whether one side of a change is a file or a link. Any change below its path belongs to the other side, where a directory has the same name. */
function isEntry({ type }: Side): boolean {
  return type === 'file' || type === 'symlink'
}

/** What the plan for one change depends on besides that change. */
type Whole = {
  /** The keys at which the changes make, remove or replace a file or a link. Such a link isn't followed: what is below it counts as absent. */
  readonly entries: ReadonlySet<string>
  readonly staysIn: ReturnType<typeof findStaying>
  readonly recorded: Date | undefined
}

/**
 * Plans one change.
 *
 * @param last the state in which the session has left the path. If somebody has restored `change.before` since, the change starts from that
 */
function plan(
  change: RunChange,
  last: Side,
  tree: Tree,
  { entries, staysIn, recorded }: Whole,
  directory: string,
): Planned {
  const { path, after } = change
  const key = `${tree.root}/${path}`
  const isOurs = (each: string): boolean => entries.has(each)
  try {
    const place = tree.locateEntry(path, isOurs)
    if (place.key !== key) return { why: 'a directory on its path is now a symlink' }
    const found = lookAt(tree, place, isOurs)
    const { now } = found
    const before = isSide(found, change.before) ? change.before : last
    if (after.type === 'directory') return planDirectory(key, before, after.mode, found, place)
    if (before.type === 'directory' && after.type === 'absent') {
      // If somebody else has put something in the directory, it stays.
      const goes = now.type === 'directory' && staysIn(key) === undefined
      return goes ? { directory: { type: 'remove', key } } : { nothing: true }
    }
    if (isSide(found, after)) return { nothing: true }
    if (before.type === 'directory') {
      if (now.type !== 'directory' && now.type !== 'absent') return { why: 'someone else put something in its place' }
      const stays = now.type === 'directory' ? staysIn(key) : undefined
      if (stays !== undefined)
        return { why: `it would replace a directory that contains ${stays}, which is not among the changes` }
      const write = writeOf(place, { type: 'absent' }, after, directory)
      return write === undefined
        ? { why: 'its new content is unknown' }
        : { change: write, ...(now.type === 'directory' ? { directory: { type: 'remove', key } } : {}) }
    }
    if (isSide(found, before)) {
      if (after.type === 'absent') return { change: { type: 'remove', place, before: now } }
      if (belongsToOthers(now, key)) return { why: 'it belongs to another user, and you may not write to it' }
      const write = writeOf(place, now, after, directory)
      return write === undefined ? { why: 'its new content is unknown' } : { change: write }
    }
    const sizes = [now.type === 'unread' ? now.size : 0, sizeOf(before), sizeOf(after)]
    if (Math.max(...sizes) > largestMerged)
      return { why: `someone else changed it, and it is too large to merge (more than ${largestMerged} bytes)` }
    return merge(place, tree.read(place, isOurs), { ...withRule(change, recorded), before }, directory)
  } catch (error) {
    // The parent is now a file, so there is nothing to remove below it.
    const isBelowFile = error instanceof PathError && error.code === 'not-a-directory'
    if (isBelowFile && after.type === 'absent') return { nothing: true }
    if (error instanceof PathError || error instanceof ReadError) return { why: renderFailure(error).trim() }
    throw error
  }
}

function planDirectory(key: string, before: Side, mode: number, found: Found, place: Change['place']): Planned {
  const { now } = found
  const directory: DirectoryChange = { type: 'make', key, mode }
  if (now.type === 'directory') {
    if (before.type !== 'directory' || found.mode === mode) return { nothing: true }
    if (before.was === 'unknown') return { why: 'someone else changed it, and its earlier mode is unknown' }
    if (found.mode !== before.mode) return { why: 'someone else changed its mode' }
    return { directory: { type: 'mode', key, before: before.mode, mode } }
  }
  if (now.type === 'absent') return before.type === 'directory' ? { why: 'someone else removed it' } : { directory }
  if (now.type !== 'unread' && now.type !== 'symlink') return { why: 'something else is in its place now' }
  if (!isSide(found, before))
    return { why: 'the run made it a directory, and someone else created or changed something with this name' }
  return { change: { type: 'remove', place, before: now }, directory }
}

/** The maximum size, in bytes, of content that is held in memory until it is written. Larger files are read in parts while they are written. */
const heldSize = 4096

/**
 * Returns the change that brings a path to the state `side`; undefined unless that state is a link, or a file whose content is known.
 *
 * @param other the content and mode to write instead of those of `side`
 */
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
  const write = { type: 'write', place, before: now, owner, evenReadOnly: true, isUnprivileged: true } as const
  if (other !== undefined) return { ...write, content: [other.bytes], mode: other.mode }
  if (side.size <= heldSize) return { ...write, content: [keptBytes(directory, side.hash)], mode: side.mode }
  checkKept(directory, side.hash, side.size)
  const pieces = [keptPiece(directory, side.hash, side.size)]
  return { ...write, content: [], pieces, mode: side.mode }
}

/** The maximum size of a file that is merged, in bytes. Merging takes several times that size in memory. */
const largestMerged = 64 * 1024 * 1024

/** The change, with a reason not to merge it if its git attributes have changed since it was recorded. */
function withRule(change: RunChange, recorded: Date | undefined): RunChange {
  const isNew = recorded !== undefined && hasNewAttributes(change.root, change.path, recorded)
  return isNew ? { ...change, no_merge: changedAttributes } : change
}

/** Merges the changes that the run and someone else made to one file. */
function merge(place: Change['place'], now: FileState, change: RunChange, directory: string): Planned {
  const { before, after, no_merge: noMerge } = change
  if (now.type === 'absent') return { why: 'someone else removed it' }
  if (before.type === 'absent') return { why: 'someone else created something with this name' }
  if (after.type === 'absent') return { why: 'the run removed it, and someone else changed it' }
  if (now.type !== 'file' || before.type !== 'file' || after.type !== 'file') {
    return { why: 'someone else changed it too, and only changes to files can be merged' }
  }
  if (before.hash === null || after.hash === null) {
    return { why: 'someone else changed it, and its content before or after the run is unknown' }
  }
  const [base, theirs] = [keptBytes(directory, before.hash), keptBytes(directory, after.hash)]
  const isOneSided = [now.bytes, theirs].some((bytes) => bytes.equals(base)) || now.bytes.equals(theirs)
  if (noMerge !== undefined && !isOneSided) return { why: `someone else changed it too, and ${noMerge}` }
  const bytes = mergeText(base, now.bytes, theirs)
  const mode = now.mode === before.mode ? after.mode : after.mode === before.mode ? now.mode : undefined
  if (bytes === undefined) return { why: 'someone else changed the same lines' }
  if (mode === undefined && now.mode !== after.mode) return { why: 'someone else changed its mode' }
  const other = { bytes, mode: mode ?? after.mode }
  if (bytes.equals(now.bytes) && other.mode === now.mode) return { nothing: true }
  const write = writeOf(place, now, after, directory, other)
  return write === undefined ? { why: 'its new content is unknown' } : { change: write, isMerged: true }
}

function kindOf(change: Change): 'A' | 'M' | 'D' {
  if (change.type === 'remove') return 'D'
  return change.before.type === 'absent' ? 'A' : 'M'
}
