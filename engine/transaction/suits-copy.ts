import { constants, copyFileSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { openTreeBudget, treeBounds, TreeTooLarge, type ListedEntry, type TreeBudget } from '../../sandbox/index.ts'
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
  try {
    for (const path of paths) if (!(await suits(path, folder, limit))) return false
    return true
  } catch (error) {
    if (error instanceof TreeTooLarge) return false
    throw error
  }
}

async function suits(root: string, folder: string, limit: CopyLimit): Promise<boolean> {
  // Directories count like files: making a million of them takes as long.
  const budget = openTreeBudget(root, { ...treeBounds, entries: limit.files })
  let [looked, files, bytes] = [0, 0, 0]
  const pending = ['']
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { name, kind } of entriesIn(root, directory, budget)) {
      if (++looked % atOnce === 0) await setImmediate()
      const key = below(directory, name)
      // The git directory isn't walked: its objects aren't copied, and the rest of it is small.
      if (kind === 'directory') {
        if (name !== '.git') pending.push(key)
        continue
      }
      if (kind !== 'file') continue
      if (files === 0 && canClone(bytesOf(root, key), join(folder, 'cloned'))) return true
      files += 1
      bytes += lstatSync(bytesOf(root, key), { throwIfNoEntry: false })?.size ?? 0
      if (bytes > limit.bytes) return false
    }
  }
  return true
}

function entriesIn(root: string, directory: string, budget: TreeBudget): readonly ListedEntry[] {
  try {
    return budget.list(bytesOf(root, directory))
  } catch (error) {
    if (error instanceof TreeTooLarge) throw error
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
