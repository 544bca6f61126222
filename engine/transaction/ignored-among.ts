import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from '../../sandbox/index.ts'
import { ignoredOf } from '../core/changes/ask-git.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { isInside } from '../core/directories-between.ts'
import type { Difference } from './find-differences.ts'
import { directoryOf } from './path-keys.ts'

/**
 * Returns the keys of the changed files that git ignores. A directory counts as ignored if all changed files in it are ignored.
 *
 * @param nested the repositories inside the tree. Git is asked in each of them, because it answers only for the files of one repository
 */
export async function ignoredAmong(
  all: readonly Difference[],
  { path, source }: { readonly path: string; readonly source: string },
  nested: readonly string[],
  sandbox: Sandbox,
): Promise<ReadonlySet<string>> {
  if (all.length === 0 || lstatSync(join(source, '.git'), { throwIfNoEntry: false }) === undefined) return new Set()
  const asked = all.filter(({ after, before }) => after.kind !== 'absent' || before.kind !== 'directory')
  const found = new Set<string>()
  const repositories = [...nested].toSorted((one, other) => other.length - one.length)
  const byRepository = Map.groupBy(asked, ({ key }) => {
    const name = join(path, pathOfKey(key))
    return repositories.find((each) => name !== each && isInside(name, each)) ?? path
  })
  for (const [workspace, own] of byRepository) {
    const prefix = workspace === path ? '' : `${Buffer.from(workspace.slice(path.length + 1)).toString('latin1')}/`
    const keys = own.map(({ key }) => key.slice(prefix.length))
    for (const key of (await ignoredOf(keys, { sandbox, workspace })) ?? []) found.add(`${prefix}${key}`)
  }
  const holding = new Map<string, { ignored: boolean; counted: boolean }>()
  for (const { key, before, after } of all) {
    if (before.kind === 'directory' || after.kind === 'directory') continue
    for (let at = directoryOf(key); at !== ''; at = directoryOf(at)) {
      const known = holding.get(at) ?? { ignored: false, counted: false }
      holding.set(at, { ignored: known.ignored || found.has(key), counted: known.counted || !found.has(key) })
    }
  }
  for (const [key, { ignored, counted }] of holding) if (ignored && !counted) found.add(key)
  return found
}

/**
 * Leaves out the removal of a directory if ignored files in it were removed too. Removals of ignored files don't land, so the directory isn't empty in the
 * original tree.
 */
export function withoutEmptied(
  counted: readonly Difference[],
  all: readonly Difference[],
  overlooked: ReadonlySet<string>,
): readonly Difference[] {
  const kept = new Set<string>()
  if (counted.length !== all.length) {
    for (const { key, after } of all) {
      if (!overlooked.has(key) || after.kind !== 'absent') continue
      for (let at = directoryOf(key); at !== ''; at = directoryOf(at)) kept.add(at)
    }
  }
  return counted.filter(
    ({ key, before, after }) => !(before.kind === 'directory' && after.kind === 'absent' && kept.has(key)),
  )
}
