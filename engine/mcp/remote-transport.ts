import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { fetchAnswer } from './answers.ts'
import type { McpDependencies } from './connection.ts'
import type { Authorization } from './oauth/authorization.ts'
import { authorizedFetch } from './oauth/authorized-fetch.ts'
import type { McpTransport } from './server.ts'

/** A transport over HTTP. `finishAuth` exchanges what a browser has brought back for tokens. */
type RemoteTransport = Transport & { readonly finishAuth: (code: string) => Promise<void> }

/**
 * Creates the transport for a server that is reached over HTTP.
 *
 * @param authorization undefined: no tokens are obtained
 */
export function remoteTransport(
  { type, url, headers }: Extract<McpTransport, { readonly type: 'http' | 'sse' | 'ws' }>,
  authorization: Authorization | undefined,
  dependencies: Pick<McpDependencies, 'environment' | 'forbidsHost' | 'signal'>,
): RemoteTransport {
  const options = {
    requestInit: { headers: { ...headers } },
    ...(authorization === undefined
      ? { fetch: fetchAnswer }
      : {
          fetch: authorizedFetch({ url, headers }, authorization, fetchAnswer, dependencies),
          authProvider: authorization,
        }),
  }
  if (type === 'sse') return new SSEClientTransport(url, options)
  // The SDK's class declares its optional fields slightly differently from the SDK's own interface.
  return new StreamableHTTPClientTransport(url, options) as RemoteTransport
}
