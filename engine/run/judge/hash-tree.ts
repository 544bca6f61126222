import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { openTreeBudget, readHostFile } from '../../../sandbox/index.ts'
import { pathOfKey } from '../../core/changes/list-files.ts'
import { cleanFiles } from '../../transaction/clean-files.ts'
import { below, placeOf } from '../../transaction/path-keys.ts'

/** Larger files are told apart by their size and time. */
const largestHashed = 8 * 1024 * 1024

/**
 * Hashes of a tree: of everything in it, and of the judge in it. `tracked`: the files that nothing but their authors should write; `files`: those of the judge
 * among them.
 */
export type TreeHashes = {
  readonly tree: string
  readonly judge: string
  readonly files: readonly string[]
  readonly tracked: readonly string[]
}

/**
 * Hashes a tree. A tracked file counts with its content, which git's index knows if the file is as committed. Any other file counts with its size and its
 * time: there are many of them, such as installed packages, and if one is mistaken for another, the results of an earlier base are used.
 *
 * @param isJudge whether a path, relative to the root, belongs to the judge. Those files are always read
 */
export function hashTree(root: string, isJudge: (path: string) => boolean): TreeHashes {
  const [tree, judge] = [createHash('sha256'), createHash('sha256')]
  const [files, authored]: [string[], string[]] = [[], []]
  const { blobOf, index } = cleanFiles(root)()
  const tracked = new Set(index?.entries.map(({ path }) => path))
  const budget = openTreeBudget(root)
  const pending = ['']
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const entries = budget.list(placeOf(root, at)).toSorted((one, other) => (one.name < other.name ? -1 : 1))
    for (const { name, kind } of entries) {
      const key = below(at, name)
      if (name === '.git') continue
      if (kind === 'directory') pending.push(key)
      const stats = lstatSync(placeOf(root, key), { bigint: true, throwIfNoEntry: false })
      if (stats === undefined || kind === 'directory') continue
      const path = pathOfKey(key)
      const isPart = stats.isFile() && isJudge(path)
      const content = isPart ? contentHash(root, key) : undefined
      const known = isPart ? content : (blobOf(key, stats) ?? (tracked.has(key) ? contentHash(root, key) : undefined))
      tree.update(`${key}\0${stats.mode}\0${known ?? `${stats.size} ${stats.mtimeNs}`}\0`)
      if (index === undefined ? !isHidden(key) : tracked.has(key)) {
        authored.push(path)
        if (isPart) files.push(path)
      }
      if (isPart) judge.update(`${key}\0${content ?? stats.size}\0`)
    }
  }
  return { tree: tree.digest('hex'), judge: judge.digest('hex'), files, tracked: authored }
}

/** Whether a path leads through a hidden directory, as those of caches do. */
function isHidden(key: string): boolean {
  return key
    .split('/')
    .slice(0, -1)
    .some((each) => each.startsWith('.'))
}

function contentHash(root: string, key: string): string | undefined {
  const bytes = readHostFile(placeOf(root, key), { maxBytes: largestHashed })
  return bytes && createHash('sha256').update(bytes).digest('hex')
}
