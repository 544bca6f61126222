import type { LandBetween } from '../land-between.ts'
import type { Observer } from '../observer.ts'
import type { Running } from '../running.ts'

/** Lands what the calls of each response have changed, and tells the user and the model what didn't land. */
export function landObserver(
  landing: LandBetween,
  { recorder, conversation }: Pick<Running, 'recorder' | 'conversation'>,
): Observer {
  let isOpen = false
  let last: string | undefined
  let untold: string | undefined
  return {
    name: 'landing',
    beforeRequest: async () => {
      // Other observers look at the end of the conversation, so the model is told only now.
      if (untold !== undefined) conversation.add({ type: 'message', role: 'developer', text: untold })
      untold = undefined
      if (!isOpen) await landing.begin()
      isOpen = true
      return undefined
    },
    afterResponse: async () => {
      isOpen = false
      const said = (await landing.end())?.lines.join('\n')
      untold = said === last ? undefined : said
      last = said
      if (untold !== undefined) recorder.complete({ type: 'error', message: untold })
      return undefined
    },
  }
}
