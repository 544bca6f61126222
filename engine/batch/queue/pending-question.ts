import { setTimeout as sleep } from 'node:timers/promises'

/** How long to wait for an answer from Redis, in milliseconds. */
const answerMs = 5000

/**
 * A question to Redis that is asked without waiting for the answer. If the connection is lost, the answer may take hours; meanwhile the caller can do
 * other work.
 */
export class PendingQuestion<Answer> {
  #answer: Answer | undefined
  #isPending = false

  /** Asks a question, unless an earlier one has no answer yet. `question` must not reject. */
  ask(question: () => Promise<Answer>): void {
    if (this.#isPending) return
    this.#isPending = true
    void question().then((answer) => {
      this.#answer = answer
      this.#isPending = false
    })
  }

  /** Whether a question is waiting for its answer, or has an answer that has not been taken yet. */
  get isOpen(): boolean {
    return this.#isPending || this.#answer !== undefined
  }

  /** Returns the answer, if it has arrived and wasn't returned before. */
  take(): Answer | undefined {
    const answer = this.#answer
    this.#answer = undefined
    return answer
  }
}

/** Waits for an answer for a few seconds. Returns `otherwise` if there is none by then, or if the question fails. */
export function answerInTime<Answer>(question: Promise<Answer>, otherwise: Answer): Promise<Answer> {
  return Promise.race([question.catch(() => otherwise), sleep(answerMs, otherwise, { ref: false })])
}
