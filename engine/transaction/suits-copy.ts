import { constants, copyFileSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { CopyLimit } from './copy-limit.ts'
import { below, bytesOf } from './path-keys.ts'

const atOnce = 500

/**
 * Whether trees may be copied for a view although the user didn't ask for a copy. This is the case if each tree is small or on a file system that
 * shares blocks. The size is found by walking the tree, which stops early if the tree is too large.
 *
 * @param folder where views are stored; an existing directory
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
      // The git directory isn't walked: its objects aren't copied, and the rest of it is small.
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
    // The directory can't be accessed or was removed, so there is nothing to copy.
    return []
  }
}

function canClone(file: Buffer, to: string): boolean {
  try {
    copyFileSync(file, to, constants.COPYFILE_FICLONE_FORCE)
    return true
  } catch {
    // The file system can't share blocks. If the copy failed for any other reason, making the view will fail too, and report that reason.
    return false
  } finally {
    rmSync(to, { force: true })
  }
}
