import type { ChangeSet, Warning } from '../change-set.ts'
import { openTree, recover, type RecoveryReport, type Tree } from '../files/index.ts'
import type { Mode, Patch } from '../patch.ts'
import { Planner } from './planner.ts'

export type PlanOptions = {
  /** The tree that the patch is for: an existing directory. */
  readonly root: string
  /** Further trees that the patch may change, by absolute paths or by `..`. They must be existing directories. Default: none. */
  readonly beside?: readonly string[]
  /** Strict mode ignores only trailing white space when it compares lines, and refuses to overwrite files or guess a place. Default: lenient. */
  readonly mode?: Mode
  /** Allows paths that lead out of the root or into `.git`. */
  readonly unsafePaths?: boolean
  /** Whether a chunk that matches several places is refused. If not, lenient mode uses the first place. Strict mode always refuses such a chunk. */
  readonly refuseAmbiguous?: boolean
  readonly signal?: AbortSignal
}

/**
 * Plans a patch against a tree: reads the files that the patch names and computes their new content, without changing anything. Later operations see the
 * results of earlier ones. A crashed run in the tree is recovered first; a warning reports this.
 *
 * @throws PatchError `not-applied`, which lists every failure in every file
 * @throws CommitError if a crashed run can't be recovered
 * @throws PathError if a tree isn't a directory, or can't be accessed
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n')
 * console.log(unifiedDiff(await planPatch(patch, { root: '.' })))
 */
export async function planPatch(patch: Patch, options: PlanOptions): Promise<ChangeSet> {
  const { root, beside = [], unsafePaths = false, signal } = options
  signal?.throwIfAborted()
  const recovered: RecoveryReport[] = []
  for (const tree of [root, ...beside]) recovered.push(...(await recover({ root: tree, ...(signal && { signal }) })))
  const changeSet = await planIn(openTree(root, { beside, unsafePaths }), patch, options)
  return { ...changeSet, warnings: [...recovered.map(recoveryWarning), ...changeSet.warnings] }
}

function recoveryWarning({ outcome, paths }: RecoveryReport): Warning {
  return { code: 'recovered', message: `recovered a crashed run first (${outcome}): ${paths.join(', ')}` }
}

/** The number of milliseconds after which planning is interrupted to check whether it was aborted. */
const patience = 100

/** Plans a patch against an open tree. @throws PatchError */
async function planIn(tree: Tree, patch: Patch, options: Omit<PlanOptions, 'root'>): Promise<ChangeSet> {
  const planner = new Planner(tree, patch, options)
  let nextPause = Date.now() + patience
  for (const [index, operation] of patch.operations.entries()) {
    if (Date.now() > nextPause) {
      // An abort or a system signal can only be noticed while no other code is running.
      await new Promise((resolve) => setImmediate(resolve))
      nextPause = Date.now() + patience
    }
    options.signal?.throwIfAborted()
    planner.plan(operation, index + 1)
    if (planner.hasGivenUp) break
  }
  return planner.finish()
}
