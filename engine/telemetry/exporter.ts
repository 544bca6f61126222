import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { connectTrusting } from '../core/certificates.ts'
import type { Target } from './telemetry-options.ts'

/** The longest wait for the collector's answer during a run, in milliseconds. After that, the request is cancelled. */
const mostWaitMs = 10_000

/** Sends requests to one address, one after the other. The caller doesn't wait for them. */
export class Exporter {
  readonly #target: Target
  readonly #environment: Readonly<NodeJS.ProcessEnv>
  readonly #abort = new AbortController()
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  #failure: string | undefined

  /** @param environment the variables that name certificates to trust */
  constructor(target: Target, environment: Readonly<NodeJS.ProcessEnv>) {
    this.#target = target
    this.#environment = environment
  }

  /** Why something was not delivered; undefined if everything has been delivered so far. Names the collector, but shows no passwords. */
  get failure(): string | undefined {
    return this.#failure
  }

  /**
   * Queues a request body. If ten bodies are already waiting, including the one that is being sent, the collector is too slow, and the new body is
   * dropped.
   */
  post(body: object): void {
    if (this.#waiting >= 10) {
      this.#failed('it answers too slowly')
      return
    }
    this.#waiting++
    this.#last = this.#last.then(async () => {
      try {
        await connectTrusting(this.#target.url, this.#environment, () => this.#send(JSON.stringify(body)))
      } catch (error) {
        this.#failed((error as Error).message)
      } finally {
        this.#waiting--
      }
    })
  }

  /** Resolves when everything has been sent. Requests that are still open after `withinMs` milliseconds are cancelled. Never throws. */
  async close(withinMs: number): Promise<void> {
    const cut = setTimeout(
      () => this.#abort.abort(new Error(`it did not answer within ${withinMs / 1000} s`)),
      withinMs,
    )
    await this.#last
    clearTimeout(cut)
  }

  #failed(why: string): void {
    this.#failure ??= `${this.#target.url.origin}: ${why}`
  }

  #send(body: string): Promise<void> {
    const { url, headers } = this.#target
    const { signal } = this.#abort
    if (signal.aborted) throw signal.reason
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const post = url.protocol === 'https:' ? overHttps : overHttp
    const type = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
    const sent = post(url, { method: 'POST', headers: { ...headers, ...type } }, (answer) => {
      const { statusCode = 0 } = answer
      // The response body is ignored, however long it is. Redirects are not followed, because they would lead to an address that the user didn't
      // choose.
      answer.destroy()
      if (statusCode >= 200 && statusCode < 300) resolve()
      else reject(new Error(`it answers ${statusCode}`))
    })
    const cut = (): void => void sent.destroy(signal.reason as Error)
    signal.addEventListener('abort', cut, { once: true })
    sent.setTimeout(mostWaitMs, () => sent.destroy(new Error(`it did not answer within ${mostWaitMs / 1000} s`)))
    sent.on('error', reject)
    sent.on('close', () => signal.removeEventListener('abort', cut))
    // A hanging request must not keep a finished program alive.
    sent.on('socket', (socket) => socket.unref())
    sent.end(body)
    return promise
  }
}
