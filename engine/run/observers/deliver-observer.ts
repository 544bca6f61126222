import type { Verdict } from '../observer.ts'
import type { Running } from '../running.ts'

/** Ends the run with a text that the model delivered through a tool. The text becomes the final message, in the stream and in the history. */
export function deliver(message = '', { conversation, recorder }: Running): Verdict {
  conversation.add({ type: 'message', role: 'assistant', text: message })
  recorder.complete({ type: 'agent_message', text: message })
  return { type: 'done' }
}
