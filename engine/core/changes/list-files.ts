import { lstatSync, readdirSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'

/** Files by their path below the workspace, one character per byte, each with a stamp that changes when it is written. */
export type Stamps = ReadonlyMap<string, string>

/** Why files were not listed: there are too many, or it took too long. */
export type Unlisted = { readonly too: 'many' | 'slow' }

/** More files than this are not looked at. */
export const mostFiles = 20_000
const patienceMs = 2000
/** How many entries are read before other work may run. */
const atOnce = 500

/** A key for a path: one character per byte, so that any bytes can be a key. */
export function keyOfPath(path: string): string {
  return Buffer.from(path).toString('latin1')
}

/** The path of a key, as text; bytes that are not UTF-8 show as U+FFFD. */
export function pathOfKey(key: string): string {
  return Buffer.from(key, 'latin1').toString()
}

/**
 * Everything in a directory except directories, without `.git` and `node_modules`. Follows no symbolic link, and skips what it can't read.
 */
export async function walkFiles(root: string): Promise<Stamps | Unlisted> {
  const until = performance.now() + patienceMs
  const found = new Map<string, string>()
  const pending = ['']
  let looked = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of entriesOf(root, directory)) {
      if (++looked % atOnce === 0) await setImmediate()
      if (performance.now() > until) return { too: 'slow' }
      const name = entry.name.toString('latin1')
      if (name === '.git' || name === 'node_modules') continue
      if (entry.isDirectory()) {
        pending.push(`${directory}${name}/`)
        continue
      }
      const stamp = stampOf(root, `${directory}${name}`)
      if (stamp !== undefined) found.set(`${directory}${name}`, stamp)
      if (found.size > mostFiles) return { too: 'many' }
    }
    // A tree of directories alone has an end too.
    if (pending.length > mostFiles) return { too: 'many' }
  }
  return found
}

/** The stamps of listed files; without missing ones and directories. */
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

function entriesOf(root: string, directory: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(bytesOf(root, directory))
  } catch {
    // It was removed, or can't be read here.
    return []
  }
}

function readEntries(path: Buffer) {
  return readdirSync(path, { withFileTypes: true, encoding: 'buffer' })
}

/** The change time too: a command may set the time of writing back, and not that one. */
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
