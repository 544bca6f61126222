import { claimTree, type Claim } from './claim.ts'
import { CommitError, errnoOf } from './errors.ts'
import { keepForUndo, markFailed } from './keep-journal.ts'
import type { RecoveryReport } from './put-in-order.ts'
import type { Outcome } from './transact.ts'

/**
 * Runs a commit with the sole right to a tree, after putting in order what crashed runs left there. Afterwards the
 * journal is kept for `undo`, kept for `recover`, or removed.
 */
export async function underClaim<Result>(
  root: string,
  options: { readonly stateDirectory?: string; readonly signal?: AbortSignal },
  act: (
    claim: Claim,
    recovered: readonly RecoveryReport[],
  ) => Promise<{ readonly report: Result; readonly outcome: Outcome }>,
): Promise<Result> {
  const claim = await claimTree(root, options)
  try {
    const { report, outcome } = await act(claim, await recoverCrashed(claim, root))
    if (outcome.leftOver.length > 0) markFailed(claim)
    else if (outcome.canUndo) keepForUndo(claim)
    else discard(claim)
    return report
  } catch (error) {
    if (!(error instanceof CommitError) || error.tree === 'unchanged') {
      discard(claim)
      throw error
    }
    throw new CommitError(error.code, { ...error.facts, journal: markFailed(claim) })
  } finally {
    claim.journal.close()
  }
}

/** Reading journals needs a validator, which a run without a crash behind it need not load. */
async function recoverCrashed(claim: Claim, root: string): Promise<readonly RecoveryReport[]> {
  if (claim.crashed.length === 0) return []
  const { putInOrder } = await import('./put-in-order.ts')
  return claim.crashed.flatMap((journal) => putInOrder(journal, root) ?? [])
}

/** Removes a journal that nothing depends on any more. */
function discard(claim: Claim): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      claim.journal.remove()
      return
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      // The tree is in order and the journal says nothing else; the next run discards it.
      if (attempt === 2) return
    }
  }
}
