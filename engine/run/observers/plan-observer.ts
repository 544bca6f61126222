import type { PlanMode } from '../../tools/plan-mode/plan-mode-state.ts'
import type { Observer } from '../observer.ts'
import type { Running } from '../running.ts'
import { deliver } from './deliver-observer.ts'

/** Ends the run when the model has presented a plan and nobody is available to approve it. The plan becomes the result of the run. */
export function planObserver(planMode: PlanMode, running: Running): Observer {
  return {
    name: 'plan',
    afterResponse: ({ called }) => {
      const plan = called === 0 ? undefined : planMode.concluded
      return plan === undefined ? undefined : deliver(plan, running)
    },
  }
}
