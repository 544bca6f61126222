import type { Endpoint } from './endpoint.ts'
import { afterRedirect, jsonInsteadOfStream, malformedStream, otherContent } from './failure.ts'
import type { Answer } from './send-by-fetch.ts'
import { send } from './send-request.ts'

const mebibyte = 1024 * 1024
/** The maximum length of a line in a stream, in bytes. A line is held in memory until it ends. No event of a model comes close to this length. */
const longestLine = 32 * mebibyte
/** The maximum length of the body of an error response, in bytes. */
const longestRefusal = mebibyte / 4
const lineFeed = 10

/**
 * A variant of `fetch` for clients that buffer what they read. It limits the memory that an answer can take. A stream with a line that is too long
 * fails with a `ProviderFailure`. The rest of a long error body is not read. The answers have those members of `Response` that the vendors' SDKs use.
 *
 * @param heard receives the headers of each answer
 */
export function boundedFetch(heard?: Endpoint['heard']): typeof fetch {
  return async (...request) => {
    const answer = await send(...request)
    heard?.((name) => answer.headers.get(name))
    const [asked] = request
    // Most redirects turn a request with a body into one without, which no provider answers.
    if ([404, 405].includes(answer.status) && URL.parse(String(asked))?.href !== answer.url)
      throw afterRedirect(answer.status, String(asked), answer.url)
    return new BoundedAnswer(await ifStream(answer)) as unknown as Response
  }
}

/** The maximum number of bytes that are read of what isn't a stream, to show its first words or the error in it. */
const mostOfOther = 64 * 1024

/**
 * Refuses what takes the place of a stream of events: a web page or a text, such as the login page of a gateway, or JSON, such as an error that a server
 * reports with status 200. The kind of the content isn't enough to recognize any of them: some servers send events under a wrong one.
 */
async function ifStream(answer: Answer): Promise<Answer> {
  const type = answer.headers.get('content-type') ?? ''
  if (answer.status >= 300 || /event-stream/i.test(type)) return answer
  const chunks: Uint8Array[] = []
  let read = await answer.body.next()
  const start = read.done === true ? '' : new TextDecoder().decode(read.value).trimStart()
  if (mayBeEvents(start)) return { ...answer, body: withFirst(read, answer.body) }
  for (let size = 0; read.done !== true && size < mostOfOther; read = await answer.body.next()) {
    chunks.push(read.value)
    size += read.value.length
  }
  await answer.body.return?.()
  const text = Buffer.concat(chunks).toString('utf8')
  throw /^[{[]/.test(start) ? jsonInsteadOfStream(text) : otherContent(text, type, answer.url)
}

/** Whether a stream of events may begin like this: with a comment, or with one of the fields that an event can have. */
function mayBeEvents(start: string): boolean {
  const begin = /^[a-z]*/.exec(start)?.[0] ?? ''
  const isWhole = start.length > begin.length
  return ['', 'data', 'event', 'id', 'retry'].some((field) =>
    isWhole ? begin === field && /^[:\r\n]/.test(start.slice(begin.length)) : field.startsWith(begin),
  )
}

function withFirst(first: IteratorResult<Uint8Array, undefined>, rest: Answer['body']): Answer['body'] {
  let isGiven = false
  return {
    next: () => {
      if (isGiven) return rest.next()
      isGiven = true
      return Promise.resolve(first)
    },
    return: async () => (await rest.return?.()) ?? ended,
  }
}

/**
 * An answer whose body is a plain iterable. The SDKs would cancel a stream at its end, and for the first cancellation in a process, Node creates a whole
 * JavaScript context, only to shorten the text of an error that nobody sees. A real `Response` would also load all of Node's `fetch`.
 */
class BoundedAnswer {
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly headers: Headers
  readonly ok: boolean
  readonly body: AsyncIterableIterator<Uint8Array>

  constructor({ status, statusText, url, headers, body }: Answer) {
    this.status = status
    this.statusText = statusText
    this.url = url
    this.headers = headers
    this.ok = status >= 200 && status < 300
    this.body = readWithin(body, this.ok ? linesUpTo(longestLine) : bytesUpTo(longestRefusal))
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of this.body) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}

/** Decides which part of a chunk is passed on, and whether it is the last part. Throws an error if the stream must fail. */
type Bound = (chunk: Uint8Array) => { readonly part: Uint8Array; readonly isLast: boolean }

function linesUpTo(limit: number): Bound {
  let length = 0
  return (chunk) => {
    const end = chunk.lastIndexOf(lineFeed)
    length = end === -1 ? length + chunk.length : chunk.length - end - 1
    if (length > limit) throw malformedStream(`a line of more than ${limit / mebibyte} MiB`)
    return { part: chunk, isLast: false }
  }
}

function bytesUpTo(limit: number): Bound {
  let left = limit
  return (chunk) => {
    const part = chunk.subarray(0, left)
    left -= chunk.length
    return { part, isLast: left <= 0 }
  }
}

const ended = { done: true, value: undefined } as const

/** Reads as much of a body as the bound allows. */
function readWithin(body: Answer['body'], bound: Bound): AsyncIterableIterator<Uint8Array> {
  let isOver = false
  const stop = async (): Promise<typeof ended> => {
    isOver = true
    await body.return?.()
    return ended
  }
  const iterator: AsyncIterableIterator<Uint8Array> = {
    next: async () => {
      if (isOver) return ended
      const read = await body.next()
      if (read.done === true) return ended
      try {
        const { part, isLast } = bound(read.value)
        if (isLast) await stop()
        return { done: false, value: part }
      } catch (error) {
        await stop()
        throw error
      }
    },
    return: stop,
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}
