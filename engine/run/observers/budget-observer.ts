import type { BudgetWatch } from '../budget-watch.ts'
import type { Observer } from '../observer.ts'

/** Ends the run before its next request if its budget is used up. */
export function budgetObserver(budget: BudgetWatch): Observer {
  return {
    name: 'budget',
    beforeRequest: () => {
      const message = budget.exhausted()
      return message === undefined ? undefined : { type: 'stop', stop: { reason: 'budget', message } }
    },
  }
}
