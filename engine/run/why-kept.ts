import type { Guardian } from '../../policies/index.ts'
import { reviewBy } from '../tools/review-call.ts'
import type { Stop } from './stop.ts'
import type { Transaction } from './transaction.ts'

/** Asks about a landing that would lose much. Returns why nothing lands, if it isn't approved. */
export async function whyKept(
  { transaction, signal }: { readonly transaction?: Transaction; readonly signal: AbortSignal },
  guardian: Guardian,
): Promise<Stop | undefined> {
  const losses = (await transaction?.losses()) ?? []
  if (losses.length === 0) return undefined
  const { verdict } = await reviewBy(guardian, { signal })({ type: 'land', losses })
  if (verdict.decision === 'allow') return undefined
  return { reason: 'stoppedByGuardian', message: `Nothing was landed. ${verdict.reason}` }
}
