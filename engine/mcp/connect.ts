import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  McpError,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { timerDelay } from '../../sandbox/index.ts'
import { connectTrusting, trustMoreCertificates } from '../core/certificates.ts'
import { version } from '../core/version.ts'
import { learnSecret } from '../core/text/mask-secrets.ts'
import { describeError, refusedKey } from './answers.ts'
import { ClientTransport } from './client-transport.ts'
import type { McpConnection, McpDependencies } from './connection.ts'
import { contentOf } from './content.ts'
import { Authorization } from './oauth/authorization.ts'
import { TokenStore } from './oauth/token-store.ts'
import { remoteTransport } from './remote-transport.ts'
import { SandboxTransport } from './sandbox-transport.ts'
import type { McpServer } from './server.ts'

// This schema is looser than the SDK's, so that one tool with an invalid schema doesn't hide the others.
const ToolList = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string().optional().catch(undefined),
      inputSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
      annotations: z
        .looseObject({ readOnlyHint: z.boolean().optional().catch(undefined) })
        .optional()
        .catch(undefined),
    }),
  ),
  nextCursor: z.string().optional(),
})

/**
 * Thrown if an HTTP server no longer knows the session, because the server was restarted or dropped the session. The failed request had no effect on
 * the server, so it can be repeated.
 */
export class ForgottenError extends Error {
  override readonly name = 'ForgottenError'
}

/** Whether a server rejected the session as unknown. The protocol requires status 404; in practice servers also send 400. */
function isForgotten(error: unknown): boolean {
  return error instanceof StreamableHTTPError && (error.code === 404 || error.code === 400)
}

/** The maximum number of pages of a list that are requested. Without this limit, a server could announce more pages forever. */
const maxPages = 100

/**
 * Connects to a server and performs the handshake.
 *
 * @throws Error if the server can't be started or reached, is too slow, or doesn't speak MCP. The message gives the reason.
 */
export async function connect(server: McpServer, dependencies: McpDependencies): Promise<McpConnection> {
  const { transport } = server
  const { environment } = dependencies
  if (!('url' in transport)) return connectOnce(server, dependencies)
  // The error of a WebSocket doesn't say that it is about a certificate.
  if (transport.url.protocol === 'wss:') await trustMoreCertificates(transport.url, environment)
  return connectTrusting(transport.url, environment, () => connectOnce(server, dependencies))
}

async function connectOnce(server: McpServer, dependencies: McpDependencies): Promise<McpConnection> {
  const client = new Client(
    { name: 'portcullis', version },
    { capabilities: { roots: { listChanged: false }, elicitation: {} } },
  )
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(dependencies.workspace).href, name: 'workspace' }],
  }))
  // Declined because nobody is there to fill in the server's form.
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }))
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => dependencies.onToolsChanged())
  let closed: string | undefined
  client.onclose = () => (closed ??= 'closed the connection')
  // An HTTP connection isn't closed when its server disappears, so the loss is noticed only when a request fails.
  const noteLoss = (error: unknown, signal: AbortSignal): void => {
    if (!signal.aborted && !(error instanceof McpError))
      closed ??= describeError(error, server, dependencies.environment)
  }
  const authorization = authorizationFor(server, dependencies)
  const transport = await open(server, dependencies, authorization)
  const limits = { timeout: timerDelay(server.startupTimeoutMs), signal: dependencies.signal }
  const endOf = (): string | undefined => (transport instanceof SandboxTransport ? transport.ending : undefined)
  const explain = (error: unknown): Error => {
    const ending = endOf()
    if (ending !== undefined) return new Error(`the server ${ending}`, { cause: error })
    const refusal = refusedKey(error, server, authorization?.refused)
    if (refusal !== undefined) return new Error(refusal, { cause: error })
    return new Error(describeError(error, server, dependencies.environment), { cause: error })
  }
  try {
    await client.connect(transport, limits)
  } catch (error) {
    await transport.close().catch(() => undefined)
    throw explain(error)
  }
  const offers = client.getServerCapabilities() ?? {}

  async function pages<Page extends { readonly nextCursor?: string | undefined }, Item>(
    get: (cursor: { cursor?: string }) => Promise<Page>,
    items: (page: Page) => readonly Item[],
  ): Promise<readonly Item[]> {
    const all: Item[] = []
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const answer = await get(cursor === undefined ? {} : { cursor })
      all.push(...items(answer))
      cursor = answer.nextCursor
      if (cursor === undefined) break
    }
    return all
  }

  return {
    instructions: client.getInstructions() ?? '',
    listTools: async () => {
      if (offers.tools === undefined) return []
      const found = await pages(
        (params) => client.request({ method: 'tools/list', params }, ToolList, limits),
        ({ tools }) => tools,
      ).catch((error: unknown) => {
        throw explain(error)
      })
      return found.map(({ name, description, inputSchema, annotations }) => ({
        name,
        description: description ?? '',
        inputSchema,
        readOnlyHint: annotations?.readOnlyHint === true,
      }))
    },
    call: async (tool, input, signal, onProgress = () => undefined) => {
      try {
        const request = { method: 'tools/call' as const, params: { name: tool, arguments: { ...input } } }
        const result = await client.request(request, CallToolResultSchema, {
          timeout: timerDelay(server.toolTimeoutMs),
          // Progress shows that the server is still working.
          resetTimeoutOnProgress: true,
          onprogress: ({ progress, total, message }) =>
            onProgress({
              progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            }),
          signal,
        })
        return { ...contentOf(result.content, result.structuredContent), isError: result.isError === true }
      } catch (error) {
        noteLoss(error, signal)
        if (isForgotten(error)) throw new ForgottenError('the server no longer knows this session', { cause: error })
        throw explain(error)
      }
    },
    listResources: async () => {
      if (offers.resources === undefined) return []
      const found = await pages(
        (params) => client.listResources(params, limits),
        ({ resources }) => resources,
      )
      return found.map(({ uri, name, description = '', mimeType = '' }) => ({ uri, name, description, mimeType }))
    },
    readResource: async (uri, signal) => {
      const { contents } = await client.readResource({ uri }, { timeout: timerDelay(server.toolTimeoutMs), signal })
      return {
        ...contentOf(
          contents.map((resource) => ({ type: 'resource', resource })),
          undefined,
        ),
        isError: false,
      }
    },
    listPrompts: async () => {
      if (offers.prompts === undefined) return []
      const found = await pages(
        (params) => client.listPrompts(params, limits),
        ({ prompts }) => prompts,
      )
      return found.map(({ name, description = '', arguments: parameters = [] }) => ({
        name,
        description,
        arguments: parameters.map((one) => ({ name: one.name, required: one.required === true })),
      }))
    },
    getPrompt: async (name, input, signal) => {
      const options = { timeout: timerDelay(server.toolTimeoutMs), signal }
      const { messages } = await client.getPrompt({ name, arguments: { ...input } }, options)
      return messages.map(({ content }) => contentOf([content], undefined).text).join('\n\n')
    },
    ended: () => endOf() ?? closed,
    close: () => client.close(),
  }
}

/** Obtains the tokens of a server that has some, or whose client proves itself; undefined for others. */
function authorizationFor({ name, transport }: McpServer, { tokens }: McpDependencies): Authorization | undefined {
  if (!('oauth' in transport) || transport.oauth === undefined) return undefined
  const store = new TokenStore(tokens, name, transport.url, transport.oauth)
  const authorization = new Authorization(transport.oauth, store)
  return authorization.isPossible ? authorization : undefined
}

async function open(
  server: McpServer,
  dependencies: McpDependencies,
  authorization: Authorization | undefined,
): Promise<Transport> {
  const { name, transport } = server
  switch (transport.type) {
    case 'stdio': {
      const { argv, env, cwd = dependencies.workspace } = transport
      return new SandboxTransport(await dependencies.sandboxFor(server), { argv, env, cwd })
    }
    case 'http':
    case 'sse':
      for (const [header, value] of Object.entries(transport.headers))
        if (/^authorization$/i.test(header)) learnSecret(`token of ${name}`, value.replace(/^Bearer /i, ''))
      return remoteTransport(transport, authorization, dependencies)
    case 'ws':
      return new WebSocketClientTransport(transport.url)
    case 'client':
      return new ClientTransport(transport)
    default:
      return transport satisfies never
  }
}
