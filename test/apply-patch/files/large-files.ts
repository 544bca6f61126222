import { closeSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs'
import { openTree, type ChangeSet } from '../../../apply-patch/index.ts'

export const MiB = 1024 * 1024

/** Creates a file of this many MiB. Most of it is a hole, so it takes up almost no space, but it begins and ends with the text. */
export function sparse(path: string, mebibytes: number, text: string): string {
  const descriptor = openSync(path, 'w')
  ftruncateSync(descriptor, mebibytes * MiB)
  writeSync(descriptor, text, 0)
  writeSync(descriptor, text, mebibytes * MiB - text.length)
  closeSync(descriptor)
  return path
}

/** A change set that replaces, removes and adds files without reading them into memory. */
export function replacing(root: string, stored: string): ChangeSet {
  const tree = openTree(root, { unsafePaths: false })
  const look = (path: string) => {
    const place = tree.locateEntry(path)
    return { place, before: tree.look(place) }
  }
  const pieces = [{ file: stored, start: 0, length: statSync(stored).size }]
  const fresh = { type: 'write', content: [], pieces, mode: 0o644, owner: undefined } as const
  return {
    root,
    unsafePaths: false,
    changes: [
      { ...fresh, ...look('replaced') },
      { ...fresh, ...look('added') },
      { type: 'remove', ...look('removed') },
    ],
    summary: [],
    warnings: [],
  }
}
