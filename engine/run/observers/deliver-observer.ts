import type { Verdict } from '../observer.ts'
import type { Running } from '../running.ts'

/** If the model delivered its message through a tool, makes it the final message in the stream and in the history, and ends the run. */
export function deliver(message = '', { conversation, recorder }: Running): Verdict {
  conversation.add({ type: 'message', role: 'assistant', text: message })
  recorder.complete({ type: 'agent_message', text: message })
  return { type: 'done' }
}
