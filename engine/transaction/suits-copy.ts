import { constants, copyFileSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { CopyLimit } from './copy-tree.ts'
import { below, bytesOf } from './path-keys.ts'

const atOnce = 500

/**
 * Whether each of these trees can be copied for a view without being asked for: since its file system shares blocks, or since it is small. It is
 * counted while walking, and given up early.
 *
 * @param folder where views are kept: a directory that is there
 */
export async function suitsCopy(paths: readonly string[], folder: string, limit: CopyLimit): Promise<boolean> {
  for (const path of paths) if (!(await suits(path, folder, limit))) return false
  return true
}

async function suits(root: string, folder: string, limit: CopyLimit): Promise<boolean> {
  let [looked, files, bytes] = [0, 0, 0]
  const pending = ['']
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of entriesIn(root, directory)) {
      if (++looked % atOnce === 0) await setImmediate()
      const key = below(directory, entry.name.toString('latin1'))
      // Objects of git are not copied, and of the rest of its directory there is little.
      if (entry.isDirectory()) {
        if (entry.name.toString('latin1') !== '.git') pending.push(key)
        continue
      }
      if (!entry.isFile()) continue
      if (files === 0 && canClone(bytesOf(root, key), join(folder, 'cloned'))) return true
      files += 1
      bytes += lstatSync(bytesOf(root, key), { throwIfNoEntry: false })?.size ?? 0
      if (files > limit.files || bytes > limit.bytes) return false
    }
  }
  return true
}

function entriesIn(root: string, directory: string) {
  try {
    return readdirSync(bytesOf(root, directory), { withFileTypes: true, encoding: 'buffer' })
  } catch {
    // Closed to us, or gone: nothing that could be copied.
    return []
  }
}

function canClone(file: Buffer, to: string): boolean {
  try {
    copyFileSync(file, to, constants.COPYFILE_FICLONE_FORCE)
    return true
  } catch {
    // Whatever the reason is, the copy finds it too, and says it.
    return false
  } finally {
    rmSync(to, { force: true })
  }
}
