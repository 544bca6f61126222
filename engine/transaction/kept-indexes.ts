import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHostFile, type MovedIndex } from '../../sandbox/index.ts'
import { largestIndex } from './clean-files.ts'
import { isNoSpace, noRoomFor } from './no-space.ts'
import type { KeptIndex } from './view-state.ts'

// The indexes are not stored among the changes, because those can be discarded while what has landed can still be reverted.
const folder = (directory: string): string => join(directory, 'indexes')

/**
 * Stores what the landing of commits does to the index of a repository, so that an undo can put the old index back.
 *
 * @throws UserError `failed` if no space is left
 */
export function keepIndex(directory: string, path: string, { before, from, to }: MovedIndex): KeptIndex {
  if (before === undefined) return { path, from, to }
  const hash = createHash('sha256').update(before).digest('hex')
  const file = join(folder(directory), hash)
  try {
    mkdirSync(folder(directory), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, before, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw isNoSpace(error) ? noRoomFor(directory, error) : error
  }
  return { path, before: hash, from, to }
}

/** What the landing of commits did to the index of a repository; undefined if that isn't known. */
export function keptIndex(directory: string, kept: KeptIndex | undefined): MovedIndex | undefined {
  if (kept === undefined) return undefined
  const { before: hash, from, to } = kept
  if (hash === undefined) return { before: undefined, from, to }
  const before = readHostFile(join(folder(directory), hash), { maxBytes: largestIndex })
  return before && { before, from, to }
}

/** Removes the stored indexes of a session, once there is nothing left to undo. */
export function removeIndexes(directory: string): void {
  rmSync(folder(directory), { recursive: true, force: true })
}
