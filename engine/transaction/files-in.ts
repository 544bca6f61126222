import { setImmediate } from 'node:timers/promises'
import { openTreeBudget, treeBounds, type ListedEntry, type TreeBudget } from '../../sandbox/index.ts'
import { below, bytesOf } from './path-keys.ts'

const atOnce = 500
/** More is looked through than elsewhere, because the tree may be too large to be copied. */
const bounds = { ...treeBounds, entries: 10_000_000, bytes: 2 * 1024 * 1024 * 1024 }

/** The keys of a tree's files and links, without those in git directories, and whether there are repositories below its root. */
export async function filesIn(tree: string): Promise<{
  readonly files: readonly string[]
  readonly links: readonly string[]
  readonly hasRepositories: boolean
}> {
  const budget = openTreeBudget(tree, bounds)
  const [files, links]: [string[], string[]] = [[], []]
  const pending = ['']
  let [looked, hasRepositories] = [0, false]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const { name, kind } of entriesIn(tree, directory, budget)) {
      if (++looked % atOnce === 0) await setImmediate()
      const key = below(directory, name)
      if (name === '.git' && directory !== '') hasRepositories = true
      if (kind === 'file') files.push(key)
      else if (kind === 'link') links.push(key)
      else if (kind === 'directory' && name !== '.git') pending.push(key)
    }
  }
  return { files, links, hasRepositories }
}

function entriesIn(tree: string, directory: string, budget: TreeBudget): readonly ListedEntry[] {
  try {
    return budget.list(bytesOf(tree, directory))
  } catch (error) {
    // What this user can't list, no command can.
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}
