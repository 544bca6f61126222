import { ModelError, type HistoryItem, type Model, type ModelRequest } from '../core/model.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import type { BudgetWatch } from './budget-watch.ts'
import { compactionPrompt, summaryIntroduction } from './compaction-prompt.ts'
import type { Conversation } from './conversation.ts'
import { leadingContext, recentTurns } from './recent-turns.ts'
import type { Recorder } from './recorder.ts'
import { describeSnapshot } from './files-at-hand.ts'

/** What is needed to compact a conversation. */
type Compacting = {
  readonly model: Model
  /** The run's usual request. The request for the summary is derived from it, so that it can use the provider's cache too. */
  readonly request: ModelRequest
  readonly conversation: Conversation
  readonly recorder: Recorder
  readonly budget: BudgetWatch
  readonly signal: AbortSignal
  /** Returns sections about the current state of the workspace. Their size depends on `characters`, the size of the conversation. */
  readonly standing: (characters: number) => Promise<readonly string[]>
}

/** The share of the conversation's tokens, counted from its end, that compaction leaves unchanged. */
const recentShare = 0.2
/** The share of an overlong history that is sent to the provider for the summary. */
const shownShare = 0.5
const charactersPerToken = 4
/** The maximum number of characters of the summary that the event contains. */
const eventSummaryLimit = 8 * 1024

/**
 * Shortens a conversation. What lies between its first messages and its last steps is replaced by a summary that the model writes, a list of
 * requests, changes, reads and commands, which is taken from the history, and the current state of the workspace. The rollout keeps the whole
 * conversation.
 *
 * @param trigger why compaction is necessary. After an `overflow`, the model is shown only a part of the conversation, because it can't read all of it
 * @throws ModelError if the request for the summary fails. If it fails because of an overflow, the list is used without a summary instead
 */
export async function compact(compacting: Compacting, trigger: 'limit' | 'overflow'): Promise<void> {
  const { conversation, recorder } = compacting
  const started = performance.now()
  const before = conversation.tokens
  const item = recorder.open({
    type: 'context_compaction',
    trigger,
    status: 'in_progress',
    tokens_before: before,
  })
  const { items, ownTokens: own } = conversation
  const words = await sumUp(compacting, trigger === 'limit' ? items : shortened(items, own * shownShare))
  const text = [
    summaryIntroduction,
    ...(words === '' ? [] : [`## Your summary\n${words}`]),
    describeSnapshot(conversation.original, await compacting.standing(own * charactersPerToken)),
  ].join('\n\n')
  conversation.replace([
    ...leadingContext(items),
    { type: 'message', role: 'user', text },
    ...recentTurns(items, own * recentShare),
  ])
  item.complete({
    status: 'completed',
    tokens_after: conversation.tokens,
    summary: truncateMiddle(text, eventSummaryLimit).text,
    duration_ms: Math.round(performance.now() - started),
  })
}

function shortened(items: readonly HistoryItem[], maxTokens: number): readonly HistoryItem[] {
  return [...leadingContext(items), ...recentTurns(items, maxTokens)]
}

/** Asks the model for a summary of its work. The summary is empty if the shown items are too long for the model. */
async function sumUp(compacting: Compacting, shown: readonly HistoryItem[]): Promise<string> {
  const { model, request, conversation, recorder, budget, signal } = compacting
  const { outputSchema: _, ...rest } = request
  const asked: HistoryItem = { type: 'message', role: 'user', text: compactionPrompt }
  let words: string[] = []
  try {
    for await (const event of model.respond({ ...rest, history: [...shown, asked] }, signal)) {
      if (event.type === 'message') words.push(event.text)
      if (event.type === 'retry') {
        words = []
        recorder.emit({ type: 'error', message: `Reconnecting... ${event.attempt}/${event.of} (${event.reason})` })
      }
      const spent =
        event.type === 'end' ? event.usage : event.type === 'retry' || event.type === 'cut' ? event.spent : undefined
      if (spent === undefined) continue
      recorder.addUsage(spent)
      conversation.addSpent(spent, budget.spendBeside(spent, model.name))
    }
  } catch (error) {
    if (!(error instanceof ModelError && error.failure === 'context-overflow')) throw error
  }
  return words.join('\n\n').trim()
}
