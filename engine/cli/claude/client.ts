import { randomUUID } from 'node:crypto'
import { UserError } from '../../core/user-error.ts'

type Waiting = { readonly take: (answer: unknown) => void; readonly fail: (why: Error) => void }

/**
 * The program at the other end of the standard streams. Either side may ask the other: a question has an id, and an answer names it. Answers whose id
 * belongs to no open question are passed over, and the ids can't be guessed.
 */
export class Client {
  readonly #write: (message: object) => void
  readonly #waiting = new Map<string, Waiting>()
  #gone: string | undefined

  /** @param write writes a message in one line */
  constructor(write: (message: object) => void) {
    this.#write = write
  }

  send(message: object): void {
    this.#write(message)
  }

  /** Asks the client, and resolves with its answer. Rejects if the client answers with an error or can't answer any more. An abort withdraws the question. */
  async ask(request: object, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    if (this.#gone !== undefined) throw new Error(this.#gone)
    const id = randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const withdraw = (): void => {
      this.send({ type: 'control_cancel_request', request_id: id })
      reject(new Error('the question was withdrawn'))
    }
    this.#waiting.set(id, { take: resolve, fail: reject })
    signal.addEventListener('abort', withdraw, { once: true })
    this.send({ type: 'control_request', request_id: id, request })
    try {
      return await promise
    } finally {
      this.#waiting.delete(id)
      signal.removeEventListener('abort', withdraw)
    }
  }

  /** Takes the client's answer to one of our questions. */
  answered(id: string, answer: { readonly response: unknown } | { readonly error: string }): void {
    const waiting = this.#waiting.get(id)
    if ('error' in answer) waiting?.fail(new Error(answer.error))
    else waiting?.take(answer.response)
  }

  /** Answers a question of the client. */
  async answer(id: string, work: () => object | Promise<object>): Promise<void> {
    try {
      const response = await work()
      this.send({ type: 'control_response', response: { subtype: 'success', request_id: id, response } })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      this.send({ type: 'control_response', response: { subtype: 'error', request_id: id, error: error.message } })
    }
  }

  /** The client will answer no more: its open questions and later ones fail. */
  leave(why: string): void {
    this.#gone = why
    for (const { fail } of this.#waiting.values()) fail(new Error(why))
  }
}
