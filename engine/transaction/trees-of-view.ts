import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathOfKey } from '../core/changes/list-files.ts'
import { findDifferences, type Difference, type DifferenceBudget } from './find-differences.ts'
import type { Look, TreeLook } from './look-through.ts'
import { findOverlayDifferences } from './overlay/find-overlay-differences.ts'
import { below, bytesOf } from './path-keys.ts'
import type { Tree } from './read-change.ts'
import type { PrivateView } from './stored-view.ts'
import type { Manifest, Original } from './view-manifest.ts'

type FoundInTree = {
  readonly differences: readonly Difference[]
  readonly manifest: Manifest
  readonly unreadable: Iterable<string>
  /** Returns the state that a path had when the view was made; undefined if it didn't exist. */
  readonly originalAt: (key: string) => Original | undefined
}

/**
 * Yields each tree of a view with a function `find`, which finds the tree's differences. `find` calls `repository` for each repository that the run may have
 * changed, with the directory `kept` that contains the repository if it isn't in the view itself.
 */
export function* treesOf(
  { views, overlays }: PrivateView,
  manifests: readonly Manifest[],
  { trees }: Look,
): Iterable<
  Omit<Tree, 'manifest'> & {
    /** The path of the private git directory, which exists only if the tree has a git directory. */
    readonly git: string
    readonly find: (budget: DifferenceBudget, repository: (key: string, kept?: string) => void) => Promise<FoundInTree>
  }
> {
  for (const [index, { path, source }] of views.entries()) {
    const storage = overlays[index]
    const manifest = manifests[index] ?? new Map<string, Original>()
    const look: TreeLook = trees[index] ?? { closed: new Map(), unreadable: new Set() }
    // If the tree had no repository, one that the run made is in the upper directory, which exists even when the overlay isn't mounted.
    const own = storage === undefined ? source : existsSync(storage.repository) ? storage.repository : storage.upper
    yield {
      path,
      source,
      git: join(own, '.git'),
      find: async (budget, repository) =>
        storage === undefined
          ? {
              manifest,
              originalAt: (key) => manifest.get(key),
              unreadable: look.unreadable,
              differences: await findDifferences(source, manifest, look, repository, budget),
            }
          : findOverlayDifferences(
              { lower: path, merged: source, storage },
              look,
              (key) => {
                const isMade = !existsSync(bytesOf(path, below(key, '.git')))
                repository(key, key === '' ? own : isMade ? join(storage.upper, pathOfKey(key)) : undefined)
              },
              budget,
            ),
    }
  }
}
