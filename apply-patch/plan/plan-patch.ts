import type { ChangeSet, Warning } from '../change-set.ts'
import { openTree, recover, type RecoveryReport, type Tree } from '../files/index.ts'
import type { Mode, Patch } from '../patch.ts'
import { Planner } from './planner.ts'

export type PlanOptions = {
  /** The tree the patch is for; an existing directory. */
  readonly root: string
  /** Further trees that the patch may change, by absolute paths or by `..`; existing directories. None when left out. */
  readonly beside?: readonly string[]
  /** Strict tolerates white space at line ends only, and refuses what lenient warns of. Lenient when left out. */
  readonly mode?: Mode
  /** Lets paths leave the root and enter `.git`. */
  readonly unsafePaths?: boolean
  /** Refuses a chunk that fits several places, which lenient else puts at the first. Always so in strict mode. */
  readonly refuseAmbiguous?: boolean
  readonly signal?: AbortSignal
}

/**
 * Plans a patch against a tree: reads the files it names and computes every new content, touching nothing. Later
 * operations see what earlier ones did. What a crashed run left in the tree is put in order first; a warning says so.
 *
 * @throws PatchError `not-applied` with every failure of every file
 * @throws CommitError when a crashed run can't be put in order
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
  return { code: 'recovered', message: `put a crashed run in order first (${outcome}): ${paths.join(', ')}` }
}

/** Milliseconds that planning goes on without a look whether it is still wanted. */
const patience = 100

/** Plans a patch against an open tree. @throws PatchError */
async function planIn(tree: Tree, patch: Patch, options: Omit<PlanOptions, 'root'>): Promise<ChangeSet> {
  const planner = new Planner(tree, patch, options)
  let nextPause = Date.now() + patience
  for (const [index, operation] of patch.operations.entries()) {
    if (Date.now() > nextPause) {
      // An abort, or a signal of the system, only arrives while nothing else runs.
      await new Promise((resolve) => setImmediate(resolve))
      nextPause = Date.now() + patience
    }
    options.signal?.throwIfAborted()
    planner.plan(operation, index + 1)
    if (planner.hasGivenUp) break
  }
  return planner.finish()
}
