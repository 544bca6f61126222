import type { BudgetWatch } from '../budget-watch.ts'
import type { Observer } from '../observer.ts'

/** Ends the run before a request that would exceed its budget. */
export function budgetObserver(budget: BudgetWatch): Observer {
  return {
    name: 'budget',
    beforeRequest: () => {
      const message = budget.exhausted()
      return message === undefined ? undefined : { type: 'stop', stop: { reason: 'budget', message } }
    },
  }
}
