import { ModelError, type HistoryItem, type Model, type ModelRequest, type ToolCall, type Usage } from '../model.ts'
import type { BudgetWatch } from './budget.ts'
import type { Conversation } from './conversation.ts'
import type { Recorder } from './recorder.ts'

/** What is needed to hear out one response. */
type Listening = {
  readonly model: Model
  readonly request: ModelRequest
  readonly conversation: Conversation
  readonly recorder: Recorder
  readonly budget: BudgetWatch
  readonly signal: AbortSignal
}

/** One response of the model: its events go to the recorder and into the history; its calls are given back. */
export async function listen(listening: Listening): Promise<readonly ToolCall[]> {
  const { model, request, conversation, recorder, budget, signal } = listening
  let heard: HistoryItem[] = []
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
      case 'tool_call':
        heard.push(event)
        break
      case 'retry':
        heard = []
        if (event.spent !== undefined) spendInVain(event.spent, listening)
        recorder.emit({ type: 'error', message: `Reconnecting... ${event.attempt}/${event.of} (${event.reason})` })
        break
      case 'end':
        recorder.addUsage(event.usage)
        conversation.addResponse(heard, event.usage, budget.spend(event.usage, model.name))
        for (const item of heard) announce(item, recorder)
        return heard.flatMap((item) => (item.type === 'tool_call' ? [item.call] : []))
      default:
        event satisfies never
    }
  }
  throw new ModelError('provider', `${model.name}: the answer stopped before its end.`)
}

/** Counts what a failed attempt cost all the same. */
export function spendInVain(spent: Usage, listening: Omit<Listening, 'request' | 'signal'>): void {
  listening.recorder.addUsage(spent)
  listening.conversation.addAttempt(spent, listening.budget.spendInVain(spent, listening.model.name))
}

function announce(item: HistoryItem, recorder: Recorder): void {
  if (item.type === 'message') recorder.complete({ type: 'agent_message', text: item.text })
  if (item.type === 'reasoning' && item.text !== '') recorder.complete({ type: 'reasoning', text: item.text })
}
