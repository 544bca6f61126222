import type { HistoryItem } from '../core/model.ts'
import type { RunContext } from '../tools/run-context.ts'
import { budgetedModel } from './budgeted-model.ts'
import { splitPiped } from './piped-input.ts'
import type { RunOptions } from './run-options.ts'
import type { Running } from './running.ts'

/** Creates the context that is given to the reviewers of a run's actions and to the run's sub-agents. */
export function makeRunContext(
  options: RunOptions,
  { recorder, budget, conversation, changes, tally }: Running,
): RunContext {
  // A prompt that another program sent doesn't count as a person's approval, so it is left out.
  const said = options.serve === undefined ? [...promptsOf(options.resumedFrom?.original ?? []), options.prompt] : []
  const prompts = said.map(splitPiped)
  return {
    open: (item) => recorder.open(item),
    spend: (usage, name) => {
      recorder.addUsage(usage)
      conversation.addSpent(usage, budget.spendBeside(usage, name))
    },
    exhausted: () => budget.exhausted(),
    within: (model) => budgetedModel(model, budget),
    prompts: prompts.map(({ words }) => words),
    material: prompts.flatMap(({ piped }) => piped ?? []).join('\n\n'),
    history: () => conversation.items,
    tally,
    changes,
  }
}

/** The user's messages in a history. */
function promptsOf(history: readonly HistoryItem[]): readonly string[] {
  return history.flatMap((item) => (item.type === 'message' && item.role === 'user' ? [item.text] : []))
}
