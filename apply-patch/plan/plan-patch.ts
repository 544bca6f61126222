import type { ChangeSet, Warning } from '../change-set.ts'
import { openTree, recover, type RecoveryReport, type Tree } from '../files/index.ts'
import type { Mode, Patch } from '../patch.ts'
import { Planner } from './planner.ts'

export type PlanOptions = {
  /** The tree the patch is for; an existing directory. */
  readonly root: string
  /** Further trees that the patch may change, by absolute paths or by `..`; existing directories. Default: none. */
  readonly beside?: readonly string[]
  /** Strict mode only tolerates white space at line ends, and refuses what lenient mode warns about. Default: lenient. */
  readonly mode?: Mode
  /** Lets paths leave the root and enter `.git`. */
  readonly unsafePaths?: boolean
  /** Refuses a chunk that matches several places; lenient mode otherwise uses the first. Strict mode always refuses. */
  readonly refuseAmbiguous?: boolean
  readonly signal?: AbortSignal
}

/**
 * Plans a patch against a tree: reads the files it names and computes every new content, without changing anything. Later operations see the results
 * of earlier ones. A crashed run in the tree is recovered first; a warning reports that.
 *
 * @throws PatchError `not-applied` with every failure of every file
 * @throws CommitError if a crashed run can't be recovered
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

/** Milliseconds of planning between two checks whether the plan is still wanted. */
const patience = 100

/** Plans a patch against an open tree. @throws PatchError */
async function planIn(tree: Tree, patch: Patch, options: Omit<PlanOptions, 'root'>): Promise<ChangeSet> {
  const planner = new Planner(tree, patch, options)
  let nextPause = Date.now() + patience
  for (const [index, operation] of patch.operations.entries()) {
    if (Date.now() > nextPause) {
      // An abort, or a signal of the system, can only arrive while nothing else runs.
      await new Promise((resolve) => setImmediate(resolve))
      nextPause = Date.now() + patience
    }
    options.signal?.throwIfAborted()
    planner.plan(operation, index + 1)
    if (planner.hasGivenUp) break
  }
  return planner.finish()
}
