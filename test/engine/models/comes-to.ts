import { ProviderFailure } from '../../../engine/models/failure.ts'
import type { WireEvent } from '../../../engine/models/wire.ts'

/** Describes the outcome of an answer in one line: what is said, thought and called, and how it ends. */
export async function comesTo(
  read: (stream: AsyncIterable<unknown>) => AsyncIterable<WireEvent>,
  events: readonly unknown[],
): Promise<string> {
  const seen: WireEvent[] = []
  try {
    for await (const event of read(streamOf(events))) seen.push(event)
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error
    return `fails: ${error.kind}${error.retryable ? '' : ' for good'}`
  }
  if (seen.at(-1)?.type !== 'end') {
    const said = seen.flatMap((event) => (event.type === 'message' || event.type === 'text_delta' ? [event.text] : []))
    return said.length === 0 ? 'was cut off' : `was cut off after "${said[0]}"`
  }
  const says = seen.some((event) => event.type === 'tool_call' || (event.type === 'message' && event.text !== ''))
  return seen.flatMap((event) => inWords(event, says)).join(' · ')
}

async function* streamOf(events: readonly unknown[]): AsyncGenerator<unknown> {
  yield* events
}

function inWords(event: WireEvent, says: boolean): readonly string[] {
  switch (event.type) {
    case 'message':
      return event.text === '' ? [] : [`says "${event.text}"`]
    case 'reasoning':
      return [event.text === '' ? 'keeps something' : `thinks "${event.text}"`]
    case 'web_search':
      return [`searches "${event.query}"`]
    case 'tool_call':
      return [`calls ${event.call.name}(${event.call.input})${event.call.cut === true ? ' cut' : ''}`]
    case 'end':
      if (event.limit !== undefined) return [`is cut: ${event.limit}`]
      if (event.paused === true) return ['pauses']
      return [says ? 'ends' : 'ends with nothing']
    default:
      return []
  }
}
