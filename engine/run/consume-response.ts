import { ModelError, type HistoryItem, type Model, type ModelRequest, type Usage } from '../core/model.ts'
import type { BudgetWatch } from './budget-watch.ts'
import type { Conversation } from './conversation.ts'
import type { Recorder } from './recorder.ts'
import type { ResponseCalls } from './run-calls.ts'

/** What is needed to consume one response. */
type ResponseContext = {
  readonly model: Model
  readonly request: ModelRequest
  readonly conversation: Conversation
  readonly recorder: Recorder
  readonly budget: BudgetWatch
  /** Receives the calls as they arrive. */
  readonly calls: ResponseCalls
  readonly signal: AbortSignal
}

/** Consumes one response of the model: its events go to the recorder and into the history. Returns the number of its calls. */
export async function consumeResponse(context: ResponseContext): Promise<number> {
  const { model, request, conversation, recorder, budget, calls, signal } = context
  let heard: HistoryItem[] = []
  let announced = 0
  const announceNew = (): void => {
    for (; announced < heard.length; announced++) announce(heard[announced], recorder)
  }
  for await (const event of model.respond(request, signal)) {
    switch (event.type) {
      case 'text_delta':
        recorder.delta(event.text)
        break
      case 'message':
        heard.push({ ...event, role: 'assistant' })
        break
      case 'reasoning':
        heard.push(event)
        break
      case 'web_search':
        heard.push(event)
        announceNew()
        break
      case 'tool_call':
        // Text that precedes a call is announced before the call begins.
        announceNew()
        heard.push(event)
        calls.add(event.call)
        break
      case 'retry':
        heard = []
        announced = 0
        await calls.retract()
        if (event.spent !== undefined) recordFailedAttempt(event.spent, context)
        recorder.emit({ type: 'error', message: `Reconnecting... ${event.attempt}/${event.of} (${event.reason})` })
        break
      case 'cut':
        recordFailedAttempt(event.spent, context)
        break
      case 'notice':
        recorder.complete({ type: 'error', message: event.message })
        break
      case 'end':
        recorder.addUsage(event.usage)
        conversation.addResponse(heard, event.usage, budget.spend(event.usage, model.name))
        announceNew()
        return heard.filter(({ type }) => type === 'tool_call').length
      default:
        event satisfies never
    }
  }
  throw new ModelError('provider', `${model.name}: the answer ended early.`)
}

/** Counts the tokens and the cost of a failed attempt. */
export function recordFailedAttempt(
  spent: Usage,
  context: Omit<ResponseContext, 'request' | 'calls' | 'signal'>,
): void {
  context.recorder.addUsage(spent)
  context.conversation.addSpent(spent, context.budget.spendBeside(spent, context.model.name))
}

function announce(item: HistoryItem | undefined, recorder: Recorder): void {
  if (item?.type === 'message') recorder.complete({ type: 'agent_message', text: item.text })
  if (item?.type === 'web_search' && item.query !== '') {
    recorder.complete({ type: 'web_search', query: item.query, action: item.action })
  }
  if (item?.type === 'reasoning' && item.text !== '') recorder.complete({ type: 'reasoning', text: item.text })
}
