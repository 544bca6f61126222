import { setTimeout as sleep } from 'node:timers/promises'

/** How long a Redis gets to answer where something waits for it. */
const answerMs = 5000

/**
 * A question to Redis that nobody waits for. A connection that is gone holds questions back until it returns, which may take hours; whoever asks
 * looks at the folder in the meantime.
 */
export class PendingQuestion<Answer> {
  #answer: Answer | undefined
  #isPending = false

  /** Asks, unless an earlier question is still without an answer. `question` must not reject. */
  ask(question: () => Promise<Answer>): void {
    if (this.#isPending) return
    this.#isPending = true
    void question().then((answer) => {
      this.#answer = answer
      this.#isPending = false
    })
  }

  /** Whether a question was asked whose answer was not taken yet. */
  get isOpen(): boolean {
    return this.#isPending || this.#answer !== undefined
  }

  /** Returns an answer that has arrived, once. */
  take(): Answer | undefined {
    const answer = this.#answer
    this.#answer = undefined
    return answer
  }
}

/** Waits for an answer, or for some seconds: then, and if the question fails, returns `otherwise`. */
export function answerInTime<Answer>(question: Promise<Answer>, otherwise: Answer): Promise<Answer> {
  return Promise.race([question.catch(() => otherwise), sleep(answerMs, otherwise, { ref: false })])
}
