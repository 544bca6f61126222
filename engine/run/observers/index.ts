import type { Model } from '../../core/model.ts'
import type { CallPath } from '../find-call.ts'
import { describeTree } from '../describe-tree.ts'
import type { Observer } from '../observer.ts'
import type { RunOptions } from '../run-options.ts'
import type { Running } from '../running.ts'
import { budgetObserver } from './budget-observer.ts'
import { compactionObserver } from './compaction-observer.ts'
import { emptyAnswersObserver } from './empty-answers-observer.ts'
import { hooksObserver, stopHooksObserver } from './hooks-observer.ts'
import { landBetween } from '../land-between.ts'
import { landObserver } from './land-observer.ts'
import { lateContextObserver } from './late-context-observer.ts'
import { outputContractObserver } from './output-contract-observer.ts'
import { planObserver } from './plan-observer.ts'
import { refusalsObserver } from './refusals-observer.ts'
import { repeatsObserver } from './repeats-observer.ts'
import { suggestionsObserver } from './suggestions-observer.ts'
import { tasksObserver } from './tasks-observer.ts'
import { verifyObserver } from './verify-observer.ts'

/** All observers of a run's loop, in the order in which they are asked. */
export function observersOf(
  options: RunOptions,
  running: Running,
  { model, path, signal }: { readonly model: Model; readonly path: CallPath; readonly signal: AbortSignal },
): readonly Observer[] {
  const { hooks, output, planMode, compactAt, tools, lateContext, verify } = options
  const { budget, conversation } = running
  const { state } = path.context
  const standing = (characters: number) => describeTree(conversation.original, characters, path.context, signal)
  const landing = landBetween(options, path.context.guardian, state)
  return [
    // Whatever another observer decides, what the calls have changed lands first.
    ...(landing === undefined ? [] : [landObserver(landing, running)]),
    budgetObserver(budget),
    compactionObserver({ ...running, model, compactAt, hooks, signal, standing }),
    ...(hooks === undefined ? [] : [hooksObserver(hooks, running)]),
    // With a person at the terminal, repeated refusals don't end the run: the person decides.
    ...(options.attended === true ? [] : [refusalsObserver(running)]),
    // If the final message must match a schema, the schema's check handles empty answers.
    ...(output === undefined ? [emptyAnswersObserver(running)] : [outputContractObserver(output, running)]),
    ...(output !== undefined || planMode === undefined ? [] : [planObserver(planMode, running)]),
    repeatsObserver(conversation),
    ...(lateContext === undefined ? [] : [lateContextObserver(lateContext, conversation)]),
    suggestionsObserver(tools, conversation),
    tasksObserver({ state, conversation, delegates: options.delegates, signal }),
    ...(hooks === undefined ? [] : [stopHooksObserver(hooks, running, signal)]),
    ...(verify === undefined
      ? []
      : [verifyObserver(verify, running, { path, signal, planMode, judge: options.judge })]),
  ]
}
