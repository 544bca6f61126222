import type { HistoryItem } from '../core/model.ts'
import type { Stop } from './stop.ts'

/** How many times in a row a model is asked again after an empty answer. */
const mostAsked = 2

/** The reaction to an answer with neither text nor calls: the model is asked again, or the run ends because asking again didn't help. */
type Nothing = { readonly again: string } | { readonly failure: string }

/**
 * Notices answers that contain neither text nor calls. Some models give such an answer after a tool's result, or after thoughts without any text.
 * Such an answer doesn't count as the result of a run.
 */
export class EmptyAnswers {
  #asked = 0

  /** Receives the history after an answer without calls, and returns the reaction; undefined if the answer has text. */
  see(history: readonly HistoryItem[]): Nothing | undefined {
    const last = history.findLast((item) => item.type !== 'reasoning' && item.type !== 'web_search')
    if (last?.type === 'message' && last.role === 'assistant' && !isBlank(last.text)) {
      this.#asked = 0
      return undefined
    }
    if (this.#asked++ < mostAsked) return { again: question }
    return {
      failure: `The model ended with an empty answer, and did so again each of the ${mostAsked} times that it was asked to continue.`,
    }
  }

  /** Starts counting again. Call this when the model has made a call, which shows that it is working. */
  reset(): void {
    this.#asked = 0
  }
}

/** Whether a text has nothing visible in it. */
function isBlank(text: string): boolean {
  // This matches blanks, control characters, and characters without a width, such as a zero-width space.
  return text.replace(/[\p{Z}\p{C}]/gu, '') === ''
}

/** Returns why a run that ended without a final message has failed; undefined if it has a final message. */
export function endedBlank(finalMessage: string): Stop | undefined {
  if (!isBlank(finalMessage)) return undefined
  return {
    reason: 'failed',
    message: 'The run ended without a final message, so it has no result.',
  }
}

const question =
  'Your answer was empty. If the task is not done, continue. If it is done, write a message that says what you did and what the outcome was.'
