import { dirname, join } from 'node:path'
import type { Sandbox } from '../../sandbox/index.ts'
import { attributesOf } from '../core/changes/ask-git.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import type { Difference } from './find-differences.ts'
import { groupByRepository } from './group-by-repository.ts'
import { below, bytesOf, directoryOf } from './path-keys.ts'
import { statsOf } from './tree-files.ts'
import { stampOf, type Original } from './view-manifest.ts'

/** What git's attributes (gitattributes(5)) say about a file that the run changed, in case somebody else changes it too. */
export type MergeRule = {
  /** Why the file must not be merged line by line. Absent: it may be. */
  readonly noMerge?: string
  /** Whether the bytes in the work tree may differ from the git object in more than the line endings. */
  readonly isConverted: boolean
}

/** A tree, and the state that each of its paths had when the view was made; undefined for a path that didn't exist. */
type AskedTree = {
  readonly path: string
  readonly source: string
  readonly originalAt: (key: string) => Original | undefined
}

/** The maximum number of repositories in a tree whose attributes are read. Files in the other repositories are never merged. */
const mostRepositories = 200

const attributes = ['merge', 'filter', 'ident', 'working-tree-encoding'] as const
const unknown: MergeRule = { noMerge: "git can't tell whether it may be merged", isConverted: true }

/**
 * Finds out how files may be merged. The attributes that count are those from the time when the view was made. If the run or somebody else has changed them
 * since, the files are never merged.
 *
 * @param counted the differences to find the rules for. Only files that existed before and still exist can be merged
 * @param all all differences in the tree
 * @returns a function that returns the rule for the key of a file
 */
export async function readMergeRules(
  counted: readonly Difference[],
  all: readonly Difference[],
  tree: AskedTree,
  sandbox: Sandbox,
): Promise<(key: string) => MergeRule> {
  const files = counted.filter(({ before, after }) => before.kind === 'file' && after.kind === 'file')
  const rules = new Map<string, MergeRule>()
  const areSame = unchangedAttributes(all, tree)
  let asked = 0
  for (const [top, own] of groupByRepository(tree.source, files)) {
    if (top === undefined) {
      for (const { key } of own) rules.set(key, { isConverted: false })
      continue
    }
    if (asked++ >= mostRepositories) continue
    const prefix = top === '' ? '' : `${top}/`
    const keys = own.map(({ key }) => key.slice(prefix.length))
    const workspace = join(tree.path, pathOfKey(top))
    const found = await attributesOf(keys, attributes, { sandbox, workspace })
    for (const [name, values] of found ?? []) {
      const key = `${prefix}${name}`
      rules.set(key, areSame(key) ? ruleOf(values) : changed)
    }
  }
  return (key) => rules.get(key) ?? unknown
}

/** The reason for not merging a file whose attributes have changed since the view was made. */
export const changedAttributes = 'the git attributes that apply to it have changed since'

const changed: MergeRule = { noMerge: changedAttributes, isConverted: true }

function ruleOf(values: ReadonlyMap<string, string>): MergeRule {
  const isConverted = attributes.slice(1).some((name) => !isOff(values.get(name)))
  const merge = values.get('merge')
  // `union` differs from the usual merge only in how it resolves conflicts.
  if (merge === 'unspecified' || merge === 'set' || merge === 'text' || merge === 'union') return { isConverted }
  const attribute = merge === 'unset' ? '-merge' : `merge=${merge}`
  return { isConverted, noMerge: `its git attribute ${attribute} forbids merging it line by line` }
}

function isOff(value: string | undefined): boolean {
  return value === 'unspecified' || value === 'unset'
}

/** Returns a function that takes the key of a file, and returns whether all files with attributes that apply to it are unchanged. */
function unchangedAttributes(all: readonly Difference[], { path, originalAt }: AskedTree): (key: string) => boolean {
  const differing = new Set(all.map(({ key }) => key))
  const known = new Map<string, boolean>()
  const isSame = (directory: string): boolean => {
    const before = known.get(directory)
    if (before !== undefined) return before
    const key = below(directory, '.gitattributes')
    const [was, now] = [originalAt(key), statsOf(bytesOf(path, key))]
    const isAsThen =
      was === undefined ? now === undefined : 'was' in was && now !== undefined && was.was === stampOf(now)
    const same = !differing.has(key) && isAsThen && (directory === '' || isSame(directoryOf(directory)))
    known.set(directory, same)
    return same
  }
  return (key) => isSame(directoryOf(key))
}

/** How far the change time of a file may lag behind the clock, in milliseconds. On Linux, file systems use the time of the last tick. */
const tick = 20

/**
 * Whether attributes that apply to a file in a tree may have been changed since a time. The removal of a file with attributes doesn't count, because the rules
 * from before it are stricter.
 *
 * @param since when `readMergeRules` was called, or earlier
 */
export function hasNewAttributes(root: string, path: string, since: Date): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    const stats = statsOf(Buffer.from(join(root, at, '.gitattributes')))
    const second = 1000
    // Some file systems store times in whole seconds.
    const from = stats !== undefined && Number(stats.ctimeNs % 1_000_000_000n) === 0 ? second : tick
    if (stats !== undefined && Number(stats.ctimeMs) >= since.getTime() - from) return true
    if (at === '.') return false
  }
}
