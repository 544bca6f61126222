import { ModelError } from '../core/model.ts'
import type { HistoryItem, ModelEvent, ModelRequest, Usage } from '../core/model.ts'
import { noUsage, sumUsage } from '../core/usage.ts'
import type { Endpoint } from './endpoint.ts'
import type { ModelItem } from './turns.ts'
import type { WireEvent } from './wire.ts'

/** How many times a provider may pause during one response. After one more pause, the response counts as complete. */
const mostPauses = 16
/** The maximum number of times that an answer is continued after it has reached its length limit. */
const mostCuts = 4

const resume =
  "Your answer was cut off here because it reached the length limit. Resume directly where it stopped. Don't repeat anything, apologize, or summarize."
const thinkLess =
  'You used your whole answer for thinking and reached the length limit. Think less from here on, and answer or call a tool now.'

/**
 * Yields one response. If the provider pauses or an answer is cut off, makes another request and continues. A text that was cut off and its continuation become
 * one message. If an answer that was cut off contains a call, the response ends there, because the call must get its result first.
 *
 * @throws ModelError `provider` if the answer is cut off too many times
 */
export async function* continueAnswer(
  provider: Pick<Endpoint, 'label'>,
  request: ModelRequest,
  ask: (part: ModelRequest) => AsyncIterable<WireEvent>,
): AsyncGenerator<ModelEvent> {
  const before: HistoryItem[] = []
  const told: ModelItem[] = []
  let half = ''
  let usage = noUsage
  for (let pauses = 0, cuts = 0; ;) {
    const part = new Part(half)
    let goesOn = false
    try {
      for await (const event of ask({ ...request, history: [...request.history, ...before] })) {
        if (event.type === 'retry') {
          yield event
          part.void()
          // A `retry` event voids all earlier events of the response, but only this part is requested again. So the items of the earlier parts are
          // emitted again.
          yield* told.map(eventOf)
          continue
        }
        if (event.type !== 'end') {
          yield* part.take(event)
          continue
        }
        const { paused = false, limit } = event
        if (limit !== undefined && !part.isCalling) {
          if (++cuts > mostCuts) throw tooLong(provider, limit, event.usage)
          yield { type: 'cut', spent: event.usage }
          half = part.keep()
          goesOn = true
          before.push(...part.said, asDeveloper(part.said.some(saysSomething) ? resume : thinkLess))
          continue
        }
        usage = sumUsage(usage, event.usage)
        goesOn = paused && pauses++ < mostPauses
        yield* part.rest()
        if (!goesOn) {
          yield { type: 'end', usage }
          return
        }
        half = ''
        before.push(...part.said)
      }
    } catch (error) {
      throw withSpent(error, usage)
    }
    if (!goesOn) return
    told.push(...part.told)
  }
}

/** The part of a response that one request yields. A response may consist of several parts. */
class Part {
  readonly #half: string
  /** The model's items, for the next request. */
  said: ModelItem[] = []
  /** The items as they were emitted: a text that continues an earlier one is joined to it. */
  told: ModelItem[] = []
  /** The last message, held back until it is known to be complete. */
  #last: Extract<ModelEvent, { type: 'message' }> | undefined
  #isJoined = false

  constructor(half: string) {
    this.#half = half
  }

  get isCalling(): boolean {
    return this.said.some(({ type }) => type === 'tool_call')
  }

  *take(event: Exclude<ModelEvent, { type: 'retry' | 'end' }>): Generator<ModelEvent> {
    if (event.type === 'text_delta' || event.type === 'notice' || event.type === 'cut') {
      yield event
      return
    }
    const item: ModelItem = event.type === 'message' ? { ...event, role: 'assistant' } : event
    this.said.push(item)
    if (event.type === 'message') {
      yield* this.#speak()
      this.#last = event
      return
    }
    // A call shows that the text cut off in an earlier part has no continuation. After a thought, the continuation may still come.
    if (event.type === 'tool_call') yield* this.rest()
    else yield* this.#speak()
    this.told.push(item)
    yield event
  }

  /** Yields the texts that are still held back: before a call, or at the end of a part that wasn't cut off. */
  *rest(): Generator<ModelEvent> {
    yield* this.#speak()
    if (this.#isJoined || this.#half === '') return
    this.#isJoined = true
    yield* this.#tell({ type: 'message', text: this.#half })
  }

  /** Returns the text that was cut off at the end of the part. It is emitted later, together with its continuation. */
  keep(): string {
    const half = `${this.#isJoined ? '' : this.#half}${this.#last?.text ?? ''}`
    this.#last = undefined
    return half
  }

  void(): void {
    this.said = []
    this.told = []
    this.#last = undefined
    this.#isJoined = false
  }

  *#speak(): Generator<ModelEvent> {
    const message = this.#last
    this.#last = undefined
    if (message === undefined) return
    const isFirst = !this.#isJoined && this.#half !== ''
    this.#isJoined = true
    yield* this.#tell(isFirst ? { type: 'message', text: this.#half + message.text } : message)
  }

  *#tell(message: Extract<ModelEvent, { type: 'message' }>): Generator<ModelEvent> {
    this.told.push({ ...message, role: 'assistant' })
    yield message
  }
}

function asDeveloper(text: string): HistoryItem {
  return { type: 'message', role: 'developer', text }
}

function saysSomething(item: ModelItem): boolean {
  return item.type === 'message' && item.text.trim() !== ''
}

function eventOf(item: ModelItem): ModelEvent {
  if (item.type !== 'message') return item
  const { role: _, images: __, ...message } = item
  return message
}

function tooLong({ label }: Pick<Endpoint, 'label'>, limit: string, spent: Usage): ModelError {
  const message = `${label} ended its response early: ${limit} (gave up after asking it to continue ${mostCuts} times)`
  return new ModelError('provider', message, { failure: 'incomplete', spent })
}

/** Returns the failure with a usage that includes the earlier parts of the response, except those that `cut` events have already reported. */
function withSpent(error: unknown, usage: Usage): unknown {
  if (!(error instanceof ModelError) || usage === noUsage) return error
  const { code, message, failure, status, spent = noUsage } = error
  const facts = { status, spent: sumUsage(usage, spent), cause: error }
  return new ModelError(code, message, failure === undefined ? facts : { ...facts, failure })
}
