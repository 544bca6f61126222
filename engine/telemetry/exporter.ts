import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { Target } from './telemetry-options.ts'

/** A request of a collector that doesn't answer is given up after so long, in the middle of a run. */
const mostWaitMs = 10_000

/** What goes to one address, one request after the other: whoever posts waits for nothing. */
export class Exporter {
  readonly #target: Target
  readonly #abort = new AbortController()
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  #failure: string | undefined

  constructor(target: Target) {
    this.#target = target
  }

  /** Why something did not arrive; undefined where all of it did so far. Names the collector, and nothing of a password. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Sends a body behind those before it. One that would be the tenth to wait is dropped: the collector is too slow. */
  post(body: object): void {
    if (this.#waiting >= 10) {
      this.#failed('it takes too long to answer')
      return
    }
    this.#waiting++
    this.#last = this.#last.then(async () => {
      try {
        await this.#send(JSON.stringify(body))
      } catch (error) {
        this.#failed((error as Error).message)
      } finally {
        this.#waiting--
      }
    })
  }

  /** Resolves when all is sent, and after `withinMs` at the latest: then what is under way is cut. Never throws. */
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
      // Its words are nothing to us, however many they are. A redirect is none of our user's addresses.
      answer.destroy()
      if (statusCode >= 200 && statusCode < 300) resolve()
      else reject(new Error(`it answers ${statusCode}`))
    })
    const cut = (): void => void sent.destroy(signal.reason as Error)
    signal.addEventListener('abort', cut, { once: true })
    sent.setTimeout(mostWaitMs, () => sent.destroy(new Error(`it did not answer within ${mostWaitMs / 1000} s`)))
    sent.on('error', reject)
    sent.on('close', () => signal.removeEventListener('abort', cut))
    // What hangs must not keep a program alive that has ended.
    sent.on('socket', (socket) => socket.unref())
    sent.end(body)
    return promise
  }
}
