import { join } from 'node:path'
import { listEntries, lstatSync } from '../host-paths.ts'
import { hostFileSystem } from '../file-system-view.ts'
import { decodeName } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { makePassingDirectory, removeRunDirectory } from '../run-directory.ts'
import { writableRoots } from '../roots.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { closedBase } from '../scratch.ts'
import { openClosedTree, type ClosedTree } from './closed-tree.ts'
import { showEnclosing } from './enclosing-repository.ts'
import { systemPlaces } from './system-places.ts'

/**
 * What commands see of this machine in a closed tree, and what not.
 *
 * @internal
 */
export type TreeDescription = {
  readonly shown: readonly {
    readonly path: string
    /** The path on this machine. It is left out if it is the same. */
    readonly source?: string
    /** `kept` is dropped when the run ends. */
    readonly access: 'read-only' | 'writable' | 'kept'
    /** What names the place: `workspace`, `root`, `system`, a program of the table of toolchains, or a variable. */
    readonly why: string
  }[]
  /** What isn't there, except for what is shown in it: of home directories each entry that isn't shown, with what it holds on its disk. */
  readonly leftOut: readonly LeftOut[]
}

/** `isComplete` is false if there are so many entries that not all were counted. */
type LeftOut = { readonly path: string; readonly bytes?: number; readonly isComplete?: boolean }

/** How many entries of home directories are counted. */
const mostEntries = 200_000

/**
 * Describes the tree that commands would see under a policy, in bubblewrap. Undefined if they would see the whole machine.
 *
 * @internal
 */
export async function describeTree(given: SandboxPolicy): Promise<TreeDescription | undefined> {
  if (given.home === 'open' || given.mode === 'danger-full-access') return undefined
  const policy = showEnclosing(given)
  const directory = makePassingDirectory(closedBase([], 'bubblewrap'))
  try {
    return describe(policy, openClosedTree(policy, directory))
  } finally {
    await removeRunDirectory(directory)
  }
}

function describe(policy: SandboxPolicy, tree: ClosedTree): TreeDescription {
  const writable = new Set(writableRoots(policy, hostFileSystem))
  const roots = [policy.workspace, ...policy.readableRoots, ...writable].map(
    (path) => hostFileSystem.realPath(path) ?? path,
  )
  const caches = new Set(tree.caches.map(({ path }) => path))
  const named = [...new Map([...tree.shown, ...tree.caches].map((place) => [place.path, place])).values()]
  const shown: TreeDescription['shown'] = [
    ...[...new Set(roots)].map((path, at) => ({
      path,
      access: writable.has(path) ? ('writable' as const) : ('read-only' as const),
      why: at === 0 ? 'workspace' : 'root',
    })),
    ...tree.homes.map(({ path }) => ({ path, access: 'kept' as const, why: 'home directory, empty' })),
    ...systemPlaces
      .filter((path) => hostFileSystem.realPath(path) === path && !named.some((place) => place.path === path))
      .map((path) => ({ path, access: 'read-only' as const, why: 'system' })),
    ...named.map(({ path, source, why }) => ({
      path,
      ...(source === path ? {} : { source }),
      access: caches.has(path) ? ('kept' as const) : ('read-only' as const),
      why,
    })),
  ]
  const seen = shown.filter(({ why }) => !why.startsWith('home directory')).map(({ path }) => path)
  const others = tree.hidden.filter((path) => !tree.homes.some((home) => home.path === path))
  return { shown, leftOut: [...measureHomes(tree, seen), ...others.map((path) => ({ path }))] }
}

/** The entries of home directories of which nothing is shown. Of a directory in which something is shown, the other entries. */
function measureHomes(tree: ClosedTree, seen: readonly string[]): readonly LeftOut[] {
  let left = mostEntries
  const namesIn = (directory: string): readonly string[] => {
    try {
      return [...listEntries(directory)].map(({ name }) => join(directory, decodeName(name)))
    } catch {
      // This user can't list the directory, or it isn't one.
      return []
    }
  }
  const bytesIn = (top: string): number => {
    let bytes = 0
    const pending = [top]
    for (let path = pending.pop(); path !== undefined && left > 0; path = pending.pop()) {
      left -= 1
      const stat = lstatSync(path, { throwIfNoEntry: false })
      bytes += (stat?.blocks ?? 0) * 512
      if (stat?.isDirectory() === true) pending.push(...namesIn(path))
    }
    return bytes
  }
  const outIn = (directory: string): readonly LeftOut[] =>
    namesIn(directory).flatMap((path): readonly LeftOut[] => {
      if (seen.includes(path)) return []
      if (seen.some((place) => isWithin(place, path))) return outIn(path)
      const bytes = bytesIn(path)
      return [{ path, bytes, isComplete: left > 0 }]
    })
  return [...new Set(tree.homes.map(({ path }) => hostFileSystem.realPath(path) ?? path))].flatMap(outIn)
}
