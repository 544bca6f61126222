import type { HistoryItem } from '../core/model.ts'
import type { Stop } from './stop.ts'

/** How often in a row a model is asked again that has said nothing. */
const mostAsked = 2

/** What becomes of an answer without calls: the model is asked again, or that has not helped. */
type Nothing = { readonly again: string } | { readonly failure: string }

/**
 * Notices answers in which nothing is said and nothing called: some models end so after a tool's result, or after thinking alone, and it
 * is no result of a run.
 */
export class EmptyAnswers {
  #asked = 0

  /** Takes what was said until now, the last of it an answer without calls. Undefined: it says something. */
  see(history: readonly HistoryItem[]): Nothing | undefined {
    const last = history.findLast((item) => item.type !== 'reasoning' && item.type !== 'web_search')
    if (last?.type === 'message' && last.role === 'assistant' && !isBlank(last.text)) {
      this.#asked = 0
      return undefined
    }
    if (this.#asked++ < mostAsked) return { again: question }
    return {
      failure: `The model ended with an empty answer, and did so again each of the ${mostAsked} times it was asked.`,
    }
  }

  /** The model has called something, so it is at work. */
  reset(): void {
    this.#asked = 0
  }
}

/** Whether a text has nothing in it that anybody could see. */
function isBlank(text: string): boolean {
  // Blanks, control characters, and what takes no room, such as a zero-width space.
  return text.replace(/[\p{Z}\p{C}]/gu, '') === ''
}

/** Why a run that came to its end is no success all the same: it has nothing to hand over. Undefined where it has. */
export function endedBlank(finalMessage: string): Stop | undefined {
  if (!isBlank(finalMessage)) return undefined
  return {
    reason: 'failed',
    message: 'The run came to its end without a final message, so there is nothing to hand over.',
  }
}

const question =
  'Your answer was empty. If the task is not done, go on with it. If it is done, say in a message what was done and how it ended.'
