import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server of MCP whose only tool says which token it was called with, together with its authorization server. */
export type OAuthServer = {
  readonly url: string
  readonly origin: string
  /** The requests for tokens, as they were sent. */
  readonly asked: {
    readonly form: URLSearchParams
    readonly authorization: string | undefined
    readonly headers: object
  }[]
  /** The tokens that are accepted. */
  readonly valid: Set<string>
  /** The refresh token that is accepted; each can be used once. */
  refresh: string
}

type Behaviour = {
  /** The authorization server that the server names. By default, the one at its own origin. */
  readonly issuer?: (origin: string) => string
  /** Where tokens are given. By default, at the server's own origin. */
  readonly tokenEndpoint?: string
  /** Where requests to some paths are sent instead, whatever their method. */
  readonly redirects?: Readonly<Record<string, string>>
  /** The scopes that a token needs. */
  readonly scopes?: string
  /** Whether tokens come with a refresh token. */
  readonly refreshes?: boolean
  /** Why every client is refused. By default, none is. */
  readonly refuses?: string
}

/** Starts a server, which is closed at the end of the test. */
export async function startOAuthServer(behaviour: Behaviour = {}): Promise<OAuthServer> {
  let issued = 0
  const state = { asked: [] as OAuthServer['asked'], valid: new Set<string>(), refresh: '' }
  const http = createServer((request, response) => {
    void bodyOf(request).then((body) => answer(request, response, body))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const json = (response: ServerResponse, value: unknown, status = 200, headers = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(value))
  }

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    const location = behaviour.redirects?.[pathname]
    if (location !== undefined) return void response.writeHead(307, { location }).end()
    switch (pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, {
          resource: `${origin}/mcp`,
          authorization_servers: [behaviour.issuer?.(origin) ?? origin],
        })
      case '/.well-known/oauth-authorization-server':
        return json(response, {
          ...{
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: behaviour.tokenEndpoint ?? `${origin}/token`,
          },
          ...{ registration_endpoint: `${origin}/register`, response_types_supported: ['code'] },
          code_challenge_methods_supported: ['S256'],
        })
      case '/register':
        return json(response, { ...(JSON.parse(body) as object), client_id: 'registered' }, 201)
      case '/authorize': {
        const back = new URL(searchParams.get('redirect_uri') ?? '')
        back.searchParams.set('code', 'the-code')
        back.searchParams.set('state', searchParams.get('state') ?? '')
        response.writeHead(302, { location: back.href })
        return void response.end()
      }
      case '/token':
        return giveToken(request, response, new URLSearchParams(body))
      case '/mcp':
        return serve(request, response, body)
      default:
        return json(response, {}, 404)
    }
  }

  function giveToken({ headers }: IncomingMessage, response: ServerResponse, form: URLSearchParams): void {
    const { authorization } = headers
    state.asked.push({ form, authorization, headers })
    if (behaviour.refuses !== undefined)
      return json(response, { error: 'invalid_client', error_description: behaviour.refuses }, 401)
    if (form.get('grant_type') === 'refresh_token' && form.get('refresh_token') !== state.refresh)
      return json(response, { error: 'invalid_grant', error_description: 'used already' }, 400)
    const token = `issued-token-${++issued}-${process.hrtime.bigint()}`
    state.valid.clear()
    state.valid.add(token)
    state.refresh = `refresh-token-${issued}-${process.hrtime.bigint()}`
    const scope = form.get('scope') ?? behaviour.scopes
    json(response, {
      ...{ access_token: token, token_type: 'Bearer', expires_in: 3600 },
      ...(scope === undefined ? {} : { scope }),
      ...(behaviour.refreshes === true ? { refresh_token: state.refresh } : {}),
    })
  }

  function serve(request: IncomingMessage, response: ServerResponse, body: string): void {
    if (request.method !== 'POST') return json(response, {}, 405)
    const token = (request.headers.authorization ?? '').replace('Bearer ', '')
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
    const scope = behaviour.scopes === undefined ? '' : `, scope="${behaviour.scopes}"`
    if (!state.valid.has(token))
      return json(response, { error: 'invalid_token' }, 401, { 'www-authenticate': `Bearer ${metadata}${scope}` })
    const { id, method } = JSON.parse(body) as { readonly id?: number; readonly method: string }
    if (id === undefined) return void response.writeHead(202).end()
    json(response, { jsonrpc: '2.0', id, result: resultOf(method, token) })
  }
  return Object.assign(state, { url: `${origin}/mcp`, origin })
}

function resultOf(method: string, token: string): object {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', serverInfo: { name: 'guarded', version: '1' }, capabilities: { tools: {} } }
  if (method === 'tools/list') return { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] }
  return { content: [{ type: 'text', text: `called with ${token}` }] }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
