import type { EndReason } from '../core/exit-codes.ts'
import { explainSystemFault } from '../core/system-fault.ts'
import { ModelError } from '../core/model.ts'
import { UserError } from '../core/user-error.ts'
import type { BudgetWatch } from './budget-watch.ts'

/** Why a run ended early. */
export type Stop = { readonly reason: EndReason; readonly message: string }

/** Returns why a run ends after a failure: it was stopped, its budget is used up, a request to the model failed, or there was another error. */
export function stopFor(error: unknown, signal: AbortSignal, budget: BudgetWatch): Stop {
  if (signal.aborted) return interruptionBy(signal)
  const exhausted = budget.signal.aborted ? budget.exhausted() : undefined
  if (exhausted !== undefined) return { reason: 'budget', message: exhausted }
  if (error instanceof ModelError) {
    const reasons = { provider: 'provider', configuration: 'usage', replay: 'failed', budget: 'budget' } as const
    return { reason: reasons[error.code], message: error.message }
  }
  return faultOf(error)
}

/** Returns the reason why a run ends after its signal was aborted. */
export function interruptionBy({ reason: why }: Pick<AbortSignal, 'reason'>): Stop {
  if (why instanceof Error) return faultOf(why)
  const reason: EndReason = why === 'terminated' ? 'terminated' : 'interrupted'
  return { reason, message: reason === 'terminated' ? 'Stopped by SIGTERM.' : 'Interrupted.' }
}

/** Returns the reason to end a run after an error that the run can't handle, such as an internal error or a full disk. */
export function faultOf(error: unknown): Stop {
  if (error instanceof UserError) return { reason: error.reason, message: error.message }
  const message = error instanceof Error ? error.message : String(error)
  const fault = explainSystemFault(error)
  if (fault !== undefined) return { reason: 'failed', message: `${fault}.` }
  return {
    reason: 'failed',
    message: `The engine failed: ${message}. This is a bug in Portcullis; please report it.`,
  }
}
