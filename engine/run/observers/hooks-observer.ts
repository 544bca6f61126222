import type { RunHooks } from '../../tools/hook-interface.ts'
import type { Observer } from '../observer.ts'
import type { Running } from '../running.ts'

/** Calls hooks between two turns, shows the user their messages, and ends the run if one of them has asked to end it. */
export function hooksObserver(hooks: RunHooks, { recorder }: Pick<Running, 'recorder'>): Observer {
  return {
    name: 'hooks',
    afterResponse: async () => {
      for (const message of await hooks.between()) recorder.complete({ type: 'error', message })
      const forbidden = hooks.stopped()
      if (forbidden === undefined) return undefined
      return { type: 'stop', stop: { reason: 'stoppedByGuardian', message: `A hook ended the run: ${forbidden}` } }
    },
  }
}

/** How many times hooks may make a finished model continue. Without this limit, a hook that always asks for more would keep a run going forever. */
const maxSentBack = 8

/** When the model is finished, asks hooks whether the run may end. */
export function stopHooksObserver(
  hooks: RunHooks,
  { recorder, conversation }: Pick<Running, 'recorder' | 'conversation'>,
  signal: AbortSignal,
): Observer {
  let sentBack = 0
  return {
    name: 'stop hooks',
    afterResponse: async ({ called }) => {
      if (called > 0 || sentBack >= maxSentBack) return undefined
      const more = await hooks.finish(recorder.finalMessage, sentBack > 0)
      // A hook that was cancelled has not agreed that the run may end.
      signal.throwIfAborted()
      if (more === undefined) return undefined
      sentBack++
      // The hook's text isn't added as a user message, because the user's words count as approval for actions.
      conversation.add({ type: 'message', role: 'developer', text: more })
      return { type: 'ask' }
    },
  }
}
