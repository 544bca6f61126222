import { join } from 'node:path'
import type { Sandbox } from '../../sandbox/index.ts'
import { ignoredOf } from '../core/changes/ask-git.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import type { Difference } from './find-differences.ts'
import { groupByRepository, isRepository } from './group-by-repository.ts'
import { directoryOf, keyIn } from './path-keys.ts'

/** How many repositories inside a tree git is asked in, and for how many milliseconds in all. In the others, no file counts as ignored. */
const [mostRepositories, longestMs] = [200, 60_000]

/**
 * Returns the keys of the changed files that git ignores. A directory counts as ignored if all changed files in it are ignored.
 *
 * @param nested the submodules and linked work trees in the tree. Git is asked in each repository, because it answers only for the files of one
 */
export async function ignoredAmong(
  all: readonly Difference[],
  { path, source }: { readonly path: string; readonly source: string },
  nested: readonly string[],
  sandbox: Sandbox,
): Promise<ReadonlySet<string>> {
  const asked = all.filter(({ after, before }) => after.kind !== 'absent' || before.kind !== 'directory')
  const found = new Set<string>()
  const ask = async (top: string, keys: readonly string[]): Promise<void> => {
    if (keys.length === 0) return
    const prefix = top === '' ? '' : `${top}/`
    const workspace = join(path, pathOfKey(top))
    const inside = keys.map((key) => key.slice(prefix.length))
    for (const key of (await ignoredOf(inside, { sandbox, workspace })) ?? []) found.add(`${prefix}${key}`)
  }
  const linked = nested.map((each) => keyIn(path, each))
  const byRepository = groupByRepository(source, asked)
  // The repository around an embedded one may ignore files in it, too. Submodules and linked work trees have only their own rules.
  const outer = [...byRepository]
    .filter(([top]) => top !== undefined && !linked.includes(top))
    .flatMap(([, own]) => own)
  if (isRepository(source, '')) {
    await ask(
      '',
      outer.map(({ key }) => key),
    )
  }
  const inner = [...byRepository].filter(([top]) => top !== undefined && top !== '')
  const until = performance.now() + longestMs
  for (const [top = '', own] of inner.slice(0, mostRepositories)) {
    if (performance.now() > until) break
    await ask(
      top,
      own.map(({ key }) => key),
    )
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
