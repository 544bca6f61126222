import { randomUUID } from 'node:crypto'

type Waiting = { readonly resolve: (answer: unknown) => void; readonly reject: (why: Error) => void }

/** How a question is put to a client, and taken back. */
type Question = { readonly put: (id: string) => void; readonly withdraw: (id: string) => void }

/**
 * The questions that the client at the standard streams hasn't answered yet. An answer names its question by an id that can't be guessed. Answers whose id
 * belongs to no open question are passed over.
 */
export class OpenQuestions {
  readonly #waiting = new Map<unknown, Waiting>()
  #gone: string | undefined

  /** Resolves with the client's answer. Rejects if the client answers with an error or can't answer any more. An abort withdraws the question. */
  async ask({ put, withdraw }: Question, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    if (this.#gone !== undefined) throw new Error(this.#gone)
    const id = randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const stop = (): void => {
      withdraw(id)
      reject(new Error('the question was withdrawn'))
    }
    this.#waiting.set(id, { resolve, reject })
    signal.addEventListener('abort', stop, { once: true })
    put(id)
    try {
      return await promise
    } finally {
      this.#waiting.delete(id)
      signal.removeEventListener('abort', stop)
    }
  }

  /** Takes an answer. `error`: why the client gives none. */
  answered(id: unknown, { result, error }: { readonly result?: unknown; readonly error?: string | undefined }): void {
    const waiting = this.#waiting.get(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(error))
  }

  /** The client will answer no more: open questions and later ones fail. */
  leave(why: string): void {
    this.#gone = why
    for (const { reject } of this.#waiting.values()) reject(new Error(why))
  }
}
