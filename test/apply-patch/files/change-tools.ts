/** Functions that create the change sets that a planner would create. */
import type { Tree } from '../../../apply-patch/files/index.ts'
import type { Change, ChangeSet, FileState, Place } from '../../../apply-patch/index.ts'

function fileAt(tree: Tree, path: string): { place: Place; before: Extract<FileState, { type: 'file' }> } {
  const place = tree.locate(path)
  const before = tree.read(place)
  if (before.type !== 'file') throw new Error(`${path} is ${before.type}`)
  return { place, before }
}

export function update(tree: Tree, path: string, text: string): Change {
  const { place, before } = fileAt(tree, path)
  const { mode, uid, gid } = before
  return { type: 'write', place, before, content: [Buffer.from(text)], mode, owner: { uid, gid } }
}

export function add(tree: Tree, path: string, text: string, isGone?: (key: string) => boolean): Change {
  const place = tree.locate(path, isGone)
  const before = tree.read(place)
  return { type: 'write', place, before, content: [Buffer.from(text)], mode: undefined, owner: undefined }
}

export function remove(tree: Tree, path: string): Change {
  const place = tree.locateEntry(path)
  return { type: 'remove', place, before: tree.read(place) }
}

/** A change that puts a file in the place of a directory. The change set must also remove the directory. */
export function replaceDirectory(tree: Tree, path: string, text: string): Change {
  const before = { type: 'absent' as const }
  return {
    type: 'write',
    place: tree.locateEntry(path),
    before,
    content: [Buffer.from(text)],
    mode: undefined,
    owner: undefined,
  }
}

/** The changes that move a file. Without `text`, its content stays the same. */
export function move(tree: Tree, from: string, to: string, text?: string): readonly Change[] {
  const source = fileAt(tree, from)
  return [installed(tree, from, to, text), { type: 'remove', ...source, movedTo: tree.locate(to) }]
}

/** The changes that swap two files. */
export function swap(tree: Tree, one: string, other: string): readonly Change[] {
  return [installed(tree, one, other), installed(tree, other, one)]
}

function installed(tree: Tree, from: string, to: string, text?: string): Change {
  const source = fileAt(tree, from)
  const { bytes, mode, uid, gid } = source.before
  const place = tree.locate(to)
  const content = [text === undefined ? bytes : Buffer.from(text)]
  const owner = { uid, gid }
  return { type: 'write', place, before: tree.read(place), content, mode, owner, movedFrom: source.place }
}

export function changeSet(tree: Tree, changes: readonly Change[]): ChangeSet {
  return { root: tree.root, unsafePaths: tree.unsafePaths, changes, summary: [], warnings: [] }
}
