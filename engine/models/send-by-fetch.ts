/** A server's response whose body has not been read yet. */
export type Answer = {
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly headers: Headers
  /** The chunks of the body. Ending the iteration early closes the connection. */
  readonly body: AsyncIterator<Uint8Array, undefined>
}

/** Sends a request as `fetch` does, and rejects with the same errors. */
export type Send = (...request: Parameters<typeof fetch>) => Promise<Answer>

/** Sends a request with this process's `fetch`, which may have been replaced or configured. */
export const sendByFetch: Send = async (...request) => {
  const { status, statusText, url, headers, body } = await fetch(...request)
  return { status, statusText, url, headers, body: chunksOf(body) }
}

function chunksOf(body: ReadableStream<Uint8Array> | null): Answer['body'] {
  const reader = body?.getReader()
  const end = { done: true, value: undefined } as const
  return {
    next: async () => {
      const read = await reader?.read()
      return read?.done === false ? read : end
    },
    return: async () => {
      // The connection isn't used any more, so errors that occur while closing it don't matter.
      await reader?.cancel().catch(() => undefined)
      return end
    },
  }
}
