import type { Model } from '../../core/model.ts'
import { compact } from '../compact.ts'
import type { RunHooks } from '../../tools/hook-interface.ts'
import { recordFailedAttempt } from '../consume-response.ts'
import type { Observer } from '../observer.ts'
import { ContextWindow } from '../context-window.ts'
import type { Running } from '../running.ts'

type Options = Pick<Running, 'conversation' | 'recorder' | 'budget'> & {
  readonly model: Model
  readonly compactAt: (model: string) => number | undefined
  readonly hooks: Pick<RunHooks, 'compact'> | undefined
  readonly signal: AbortSignal
  readonly standing: (characters: number) => Promise<readonly string[]>
}

/** Compacts the conversation when it has grown too long for the model, or when the provider reports that it is too long. */
export function compactionObserver({ hooks, compactAt, ...rest }: Options): Observer {
  const { model, conversation } = rest
  const contextWindow = new ContextWindow(compactAt)
  return {
    name: 'compaction',
    beforeRequest: async (request) => {
      const wanted = contextWindow.wanted(conversation.tokens, model.name)
      if (wanted === undefined) return undefined
      await hooks?.compact('before')
      await compact({ ...rest, request }, wanted)
      await hooks?.compact('after')
      contextWindow.made(conversation.tokens)
      return { type: 'ask' }
    },
    afterAnswer: () => {
      const message = contextWindow.answered(conversation.tokens, model.name)
      if (message !== undefined) rest.recorder.complete({ type: 'error', message })
    },
    afterFailure: (error) => {
      if (!contextWindow.overflowed(error)) throw contextWindow.explain(error)
      if (error.spent !== undefined) recordFailedAttempt(error.spent, rest)
      return { type: 'ask' }
    },
  }
}
