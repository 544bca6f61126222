import type { Verdict } from '../observer.ts'
import type { Running } from '../running.ts'

/** Makes a text that the model delivered through a tool the final message, in the stream and in the history, and ends the run. */
export function deliver(message = '', { conversation, recorder }: Running): Verdict {
  conversation.add({ type: 'message', role: 'assistant', text: message })
  recorder.complete({ type: 'agent_message', text: message })
  return { type: 'done' }
}
