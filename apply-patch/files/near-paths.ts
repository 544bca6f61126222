import { readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { editDistance } from '../text/edit-distance.ts'
import { errnoOf } from './commit-error.ts'

/** The number of entries after which a search through a large tree ends. The result is only a hint, so a longer search isn't worthwhile. */
const entryLimit = 20_000
const shown = 3

/** Folders that are not searched, because they contain very many files, and patches hardly ever name one of these. */
const skipped = new Set(['.git', 'node_modules'])

/**
 * Finds existing files that may have been meant by a path that doesn't exist. These are files with the same name in another folder, or with a similar name in
 * the same folder. The likeliest come first; links are not followed.
 *
 * @param root absolute real path
 */
export function findNearPaths(root: string, path: string): readonly string[] {
  const wanted = path.split('/').filter((part) => part !== '' && part !== '.')
  const name = wanted.at(-1) ?? ''
  if (name === '' || wanted.includes('..') || name.length > 255) return []
  const found: { readonly path: string; readonly cost: number }[] = []
  for (const file of walk(root)) {
    const parts = file.split('/')
    const sameName = (parts.at(-1) ?? '').toLowerCase() === name.toLowerCase()
    const sameFolder = parts.slice(0, -1).join('/') === wanted.slice(0, -1).join('/')
    if (sameName) found.push({ path: file, cost: differingFolders(parts, wanted) })
    else if (sameFolder) {
      const distance = editDistance(parts.at(-1) ?? '', name)
      if (distance <= Math.max(1, Math.min(3, name.length / 4))) found.push({ path: file, cost: distance })
    }
  }
  const byCost = found.toSorted((one, other) => one.cost - other.cost || (one.path < other.path ? -1 : 1))
  return byCost.slice(0, shown).map((one) => one.path)
}

function differingFolders(parts: readonly string[], wanted: readonly string[]): number {
  let same = 0
  while (same < Math.min(parts.length, wanted.length) && parts.at(-1 - same) === wanted.at(-1 - same)) same++
  return parts.length + wanted.length - 2 * same
}

/** The files of a tree, nearest to its root first, without those in the folders in `skipped`. Stops after `entryLimit` entries. */
function* walk(root: string): Generator<string> {
  let left = entryLimit
  const folders = ['']
  for (let folder = folders.shift(); folder !== undefined && left > 0; folder = folders.shift()) {
    for (const entry of entriesOf(join(root, folder))) {
      if (left-- <= 0) return
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path)
      else if (!entry.isDirectory()) yield path
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    // If a folder is unreadable, only a possible hint is lost.
    if (errnoOf(error) !== undefined) return []
    throw error
  }
}
