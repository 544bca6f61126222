import type { Observer } from '../observer.ts'
import type { OutputContract } from '../output-contract.ts'
import type { Running } from '../running.ts'
import { deliver } from './deliver-observer.ts'

/**
 * Makes sure that the final message matches its schema. A message that doesn't match is returned to the model with a list of its errors, up to a limited number
 * of times.
 */
export function outputContractObserver(output: OutputContract, running: Running): Observer {
  const { conversation } = running
  return {
    name: 'output contract',
    afterResponse: ({ called }) => {
      const judgement = called === 0 ? output.judgeMessage(conversation.items) : output.judgeCalls()
      if (judgement === undefined) return undefined
      if ('failure' in judgement) return { type: 'stop', stop: { reason: 'failed', message: judgement.failure } }
      if (judgement.done) return called === 0 ? undefined : deliver(judgement.delivered, running)
      // The model delivered its message through a tool. The result of that call already tells the model what is wrong with the message.
      if (called > 0) return undefined
      conversation.add({ type: 'message', role: 'developer', text: judgement.correction })
      return { type: 'ask' }
    },
  }
}
