import type { ChangeSet, Warning } from '../change-set.ts'
import { hasUnfinished, openTree, recover, type OtherRun, type RecoveryReport, type Tree } from '../files/index.ts'
import type { Mode, Patch } from '../patch.ts'
import { PatchError } from '../patch-error.ts'
import { withoutDiffPrefixes } from './diff-prefixes.ts'
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
  /**
   * What happens to a chunk that fits several places: with `first`, the first of them is used, with a warning; with `refuse`, the chunk is refused, and the
   * failure lists the places. Strict mode always refuses. Default: `first`.
   */
  readonly ambiguous?: 'first' | 'refuse'
  /** Whether paths are taken as they are written. If not, lenient mode understands the `a/` and `b/` of a diff (see `withoutDiffPrefixes`). */
  readonly literalPaths?: boolean
  readonly signal?: AbortSignal
  /** Called once if another run on the tree makes this one wait for longer than a moment. */
  readonly waits?: (other: OtherRun) => void
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
  const { root, beside = [], signal } = options
  signal?.throwIfAborted()
  const recovered = await recoverAll(options)
  try {
    return withRecovered(recovered, await planAgain(patch, options))
  } catch (error) {
    // Another run may have begun in the meantime. While it moves files, they are missing, so its end must be waited for.
    if (!(error instanceof PatchError) || ![root, ...beside].some(hasUnfinished)) throw error
    recovered.push(...(await recoverAll(options)))
    return withRecovered(recovered, await planAgain(patch, options))
  }
}

/** Plans a patch as `planPatch` does, but doesn't recover crashed runs, so it can be called while the tree is locked. */
export async function planAgain(patch: Patch, options: PlanOptions): Promise<ChangeSet> {
  const { root, beside = [], unsafePaths = false } = options
  const isLiteral = options.literalPaths === true || options.mode === 'strict'
  const meant = isLiteral ? { patch, warnings: [] } : withoutDiffPrefixes(patch, root)
  const changeSet = await planIn(openTree(root, { beside, unsafePaths }), meant.patch, options)
  return { ...changeSet, warnings: [...meant.warnings, ...changeSet.warnings] }
}

async function recoverAll({ root, beside = [], signal, waits }: PlanOptions): Promise<RecoveryReport[]> {
  const recovered: RecoveryReport[] = []
  for (const tree of [root, ...beside]) {
    recovered.push(...(await recover({ root: tree, ...(signal && { signal }), ...(waits && { waits }) })))
  }
  return recovered
}

function withRecovered(recovered: readonly RecoveryReport[], changeSet: ChangeSet): ChangeSet {
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
