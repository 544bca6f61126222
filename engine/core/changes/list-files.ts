import { lstatSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { listEntries, type ListedEntry } from '../../../sandbox/index.ts'

/**
 * The stamps of files. A file's stamp changes when the file is written. The keys are the paths relative to the workspace, as `keyOfPath` converts
 * them.
 */
export type Stamps = ReadonlyMap<string, string>

/** Why files were not listed: there are too many, or listing them took too long. */
export type Unlisted = { readonly too: 'many' | 'slow' }

/** The maximum number of files in a listing. */
export const mostFiles = 20_000
const patienceMs = 2000
/** How many directory entries are processed before the event loop gets a turn. */
const atOnce = 500

/** Converts a path to a key, which has one character for each byte of the path, so that a key can represent any file name. */
export function keyOfPath(path: string): string {
  return Buffer.from(path).toString('latin1')
}

/** Converts a key back to a path; bytes that are not UTF-8 become U+FFFD. */
export function pathOfKey(key: string): string {
  return Buffer.from(key, 'latin1').toString()
}

/**
 * Lists all files below a directory, but no directories, and nothing in `.git` or `node_modules`. Follows no symbolic links and skips what it can't
 * read. Gives up if there are too many files, or if listing them would take too much time.
 */
export async function walkFiles(root: string): Promise<Stamps | Unlisted> {
  const until = performance.now() + patienceMs
  const found = new Map<string, string>()
  const pending = ['']
  let looked = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { name, kind } of entriesOf(root, directory)) {
      if (++looked % atOnce === 0) await setImmediate()
      if (performance.now() > until) return { too: 'slow' }
      if (name === '.git' || name === 'node_modules') continue
      if (kind === 'directory') {
        pending.push(`${directory}${name}/`)
        continue
      }
      const stamp = stampOf(root, `${directory}${name}`)
      if (stamp !== undefined) found.set(`${directory}${name}`, stamp)
      if (found.size > mostFiles) return { too: 'many' }
    }
    // The limit also applies to a tree that contains only directories.
    if (pending.length > mostFiles) return { too: 'many' }
  }
  return found
}

/** Returns the stamps of listed files, leaving out directories and missing files. Gives up if this takes too long. */
export async function stampFiles(root: string, keys: Iterable<string>): Promise<Stamps | Unlisted> {
  const until = performance.now() + patienceMs
  const found = new Map<string, string>()
  let looked = 0
  for (const key of keys) {
    if (++looked % atOnce === 0) await setImmediate()
    if (performance.now() > until) return { too: 'slow' }
    const stamp = stampOf(root, key)
    if (stamp !== undefined) found.set(key, stamp)
  }
  return found
}

function* entriesOf(root: string, directory: string): Generator<ListedEntry> {
  try {
    yield* listEntries(bytesOf(root, directory))
  } catch {
    // The directory was removed or can't be read.
  }
}

/**
 * Returns the stamp of a file; undefined for a directory or a missing file. The stamp includes ctime, because a command can set mtime back but not
 * ctime.
 */
function stampOf(root: string, key: string): string | undefined {
  try {
    const stats = lstatSync(bytesOf(root, key), { bigint: true })
    if (stats.isDirectory()) return undefined
    const { mtimeNs, ctimeNs, size, mode, ino } = stats
    return [mtimeNs, ctimeNs, size, mode, ino].join(' ')
  } catch {
    return undefined
  }
}

function bytesOf(root: string, key: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(key, 'latin1')])
}
