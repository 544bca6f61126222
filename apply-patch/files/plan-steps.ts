import { basename, dirname } from 'node:path'
import type { Change, ChangeSet, Content, FileState } from '../change-set.ts'
import { crc32 } from './crc32.ts'
import { chunksOf, piecesOf } from './pieces.ts'
import { CommitError } from './commit-error.ts'
import type { Cleared, Entry, Fingerprint, Step, WriteChange } from './commit-steps.ts'

/** The steps for a change set, the directories to create, and the directories that files replace. Among directories, parents come first. */
type StepPlan = {
  readonly steps: readonly Step[]
  readonly made: readonly string[]
  readonly cleared: readonly Pick<Cleared, 'path' | 'aside'>[]
}

/**
 * Gives every change its temporary names. The tree is not changed.
 *
 * New content is first written next to its target. If the target's directory doesn't exist yet, the content is written to the nearest existing directory, so
 * that directories are created only after all content is written.
 *
 * @param nonce a random text that is part of every temporary name
 * @param exists whether a directory exists now
 * @param emptied directories to remove at the end if they are empty. If a file replaces such a directory, the directory is removed before the file is
 * installed
 */
export function planSteps(
  changeSet: ChangeSet,
  nonce: string,
  exists: (directory: string) => boolean,
  emptied: readonly string[],
): StepPlan {
  const byKey = new Map<string, Change>()
  for (const change of changeSet.changes) {
    const { key } = change.place
    if (byKey.has(key)) throw unsupported(change)
    byKey.set(key, change)
  }
  const inTheWay = (directory: string): boolean =>
    byKey.get(directory)?.type === 'write' ||
    (directory !== changeSet.root && directory !== '/' && inTheWay(dirname(directory)))
  const cleared = emptied.filter(inTheWay)
  const stays = (directory: string): string => (cleared.includes(directory) ? stays(dirname(directory)) : directory)
  const made = new Set<string>()
  /** Whether a directory exists now and isn't removed by the commit. */
  const known = new Map<string, boolean>()
  const isThere = (directory: string): boolean => {
    const found = known.get(directory)
    if (found !== undefined) return found
    const above = directory === '/' || directory === changeSet.root || isThere(dirname(directory))
    const there = above && byKey.get(directory)?.type !== 'remove' && exists(directory)
    known.set(directory, there)
    return there
  }
  const nearest = (directory: string): string => {
    const missing: string[] = []
    let at = directory
    for (; !isThere(at); at = dirname(at)) missing.push(at)
    for (const path of missing.reverse()) made.add(path)
    return at
  }
  const shared = new Map<string, string>()
  const steps = changeSet.changes.map((change, index): Step => {
    const { directory, name } = entryOf(change.place.key)
    // All entries of a directory share one text, so that each doesn't keep its own.
    const target = { directory: shared.get(directory) ?? directory, name }
    shared.set(target.directory, target.directory)
    // A text that is joined with `+` or in a template keeps its parts in memory.
    const ours = (at: string, kind: string): Entry => ({
      directory: at,
      name: ['.apply-patch-', nonce, '-', index.toString(36), '.', kind].join(''),
    })
    const old = ours(stays(target.directory), 'old')
    if (change.type === 'remove') {
      if (change.before.type === 'absent' || change.before.type === 'directory') throw unsupported(change)
      return { type: 'remove', change, journalEntry: { type: 'remove', target, old } }
    }
    const fingerprint = fingerprintOf(change)
    const renamed = renamedFrom(change, byKey)
    switch (change.before.type) {
      case 'absent': {
        const fresh = ours(nearest(target.directory), 'new')
        return { type: 'install', change, renamed, journalEntry: { type: 'add', target, fresh, fingerprint } }
      }
      case 'file':
      case 'unread':
      case 'symlink': {
        const fresh = ours(target.directory, 'new')
        return { type: 'install', change, renamed, journalEntry: { type: 'replace', target, fresh, old, fingerprint } }
      }
      case 'directory':
      case 'other':
        throw unsupported(change)
      default:
        return change.before satisfies never
    }
  })
  for (const change of changeSet.directories ?? []) if (change.type === 'make') nearest(change.key)
  const aside = (path: string, index: number): Entry | undefined =>
    cleared.includes(dirname(path))
      ? undefined
      : { directory: dirname(path), name: `.apply-patch-${nonce}-${index.toString(36)}.dir` }
  return { steps, made: [...made], cleared: cleared.map((path, index) => ({ path, aside: aside(path, index) })) }
}

/** The fingerprint that the file of a change will have once the file is written. */
function fingerprintOf(change: WriteChange): Fingerprint {
  let size = 0
  let crc = 0
  for (const piece of chunksOf(piecesOf(change))) {
    size += piece.length
    crc = crc32(piece, crc)
  }
  return { size, crc, mode: change.mode, symlink: change.symlink }
}

/**
 * The entry whose inode can be reused for a change, because the patch moves the file at that entry without changing its bytes, mode or owner, and
 * removes the old path or uses it for another file.
 */
function renamedFrom(change: WriteChange, byKey: ReadonlyMap<string, Change>): Entry | undefined {
  if (change.movedFrom === undefined || change.symlink !== undefined) return undefined
  const source = byKey.get(change.movedFrom.key)
  if (source?.before.type !== 'file' || source === change) return undefined
  const { bytes, mode, uid, gid } = source.before
  const { owner } = change
  if (change.mode !== mode || (owner !== undefined && (owner.uid !== uid || owner.gid !== gid))) return undefined
  return change.pieces === undefined && holds(change.content, bytes) ? entryOf(change.movedFrom.key) : undefined
}

function holds(content: Content, bytes: Buffer): boolean {
  let at = 0
  for (const piece of content) {
    if (at + piece.length > bytes.length) return false
    if (bytes.compare(piece, 0, piece.length, at, at + piece.length) !== 0) return false
    at += piece.length
  }
  return at === bytes.length
}

function entryOf(key: string): Entry {
  return { directory: dirname(key), name: basename(key) }
}

function unsupported(change: Change): CommitError {
  const kinds: Record<FileState['type'], string> = {
    absent: 'ENOENT',
    directory: 'EISDIR',
    file: 'EINVAL',
    unread: 'EINVAL',
    symlink: 'EINVAL',
    other: 'EINVAL',
  }
  return new CommitError('unsupported', {
    operation: change.type,
    path: change.place.path,
    key: change.place.key,
    errno: kinds[change.before.type],
  })
}
