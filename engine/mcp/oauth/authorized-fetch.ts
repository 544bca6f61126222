import { connectTrusting } from '../../core/certificates.ts'
import type { McpDependencies } from '../connection.ts'
import type { Authorization } from './authorization.ts'

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>

/** How long an authorization server may take to answer, in milliseconds. */
const patience = 30_000

/** How many times a request that contains nothing secret may be sent elsewhere. */
const mostHops = 5

/**
 * A `fetch` for a server whose tokens are obtained: requests to its own URL are made by `fetch`, others go to authorization servers, whose addresses the server
 * names, so it could name any. Nothing is sent to a host that a rule forbids, the server's own headers go only to it, and what is secret goes over TLS.
 */
export function authorizedFetch(
  { url: own, headers: ownHeaders }: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  authorization: Authorization,
  fetchAnswer: Fetch,
  { environment, forbidsHost, signal }: Pick<McpDependencies, 'environment' | 'forbidsHost' | 'signal'>,
): Fetch {
  const ask = async (input: string | URL, init: RequestInit, hops: number): Promise<Response> => {
    const url = new URL(input)
    if (url.href === own.href) {
      const answer = await fetchAnswer(url, init)
      authorization.note(answer)
      return answer
    }
    const forbidden = forbidsHost(url)
    const place = `${url.origin}${url.pathname}`
    if (forbidden !== undefined) throw new Error(`${place} must not be asked for a token: ${forbidden}`)
    if (init.method === 'POST' && url.protocol !== 'https:' && !isLoopback(url))
      throw new Error(
        `${place} must not be asked for a token, because what is sent there could be read: it isn't https`,
      )
    const headers = new Headers(init.headers)
    for (const [name, value] of Object.entries(ownHeaders)) if (headers.get(name) === value) headers.delete(name)
    const limits = [signal, AbortSignal.timeout(patience), ...(init.signal == null ? [] : [init.signal])]
    const options = { ...init, headers, signal: AbortSignal.any(limits), redirect: 'manual' } as const
    const answer = await connectTrusting(url, environment, () => fetch(url, options))
    const location = answer.headers.get('location')
    if (answer.status < 300 || answer.status >= 400 || location === null) return answer
    await answer.body?.cancel()
    // What is secret stays where it was sent, and every other place is judged like the first one.
    if (init.method === 'POST' || hops >= mostHops)
      throw new Error(`${place} must not be asked for a token, because it sends the request elsewhere: ${location}`)
    return ask(new URL(location, url), init, hops + 1)
  }
  return (input, init = {}) => ask(input, init, 0)
}

/** Whether a URL leads to this machine. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
