import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { setLongTimeout } from '../../../sandbox/index.ts'
import { UserError } from '../../core/user-error.ts'
import { version } from '../../core/version.ts'
import { describeError } from '../answers.ts'
import type { McpDependencies } from '../connection.ts'
import { remoteTransport } from '../remote-transport.ts'
import type { McpServer } from '../server.ts'
import { Authorization } from './authorization.ts'
import { TokenStore } from './token-store.ts'

/** How long a person may take to sign in, in milliseconds. */
const patience = 10 * 60_000

type SignInOptions = Pick<McpDependencies, 'environment' | 'forbidsHost' | 'signal' | 'tokens'> & {
  /** Tells the person which address to open. */
  readonly open: (url: URL) => void
  /** The address to which a browser on another machine was sent. Undefined: the browser is on this machine, and comes back by itself. */
  readonly returned: (() => Promise<string>) | undefined
}

/**
 * Lets a person sign in to a server with a browser, and stores the tokens.
 *
 * @returns whether the server asked for it
 * @throws UserError if the server isn't one to sign in to, or the person didn't
 */
export async function signIn(server: McpServer, options: SignInOptions): Promise<boolean> {
  const { name, origin, transport } = server
  if (!('oauth' in transport) || transport.oauth === undefined)
    throw new UserError(
      'usage',
      `${origin}: nobody signs in to ${name}: it has no URL over http, or a token is configured`,
    )
  if (transport.oauth.grant === 'client_credentials')
    throw new UserError('usage', `${origin}: nobody signs in to ${name}: its client proves itself (oauth.grant)`)
  const state = randomUUID()
  const waiting = Promise.withResolvers<URL>()
  const listener = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const isRight = url.pathname === '/callback' && url.searchParams.get('state') === state
    response.writeHead(isRight ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' })
    response.end(isRight ? 'You can close this window.\n' : 'This is not the address to come back to.\n')
    if (isRight) waiting.resolve(url)
  })
  await new Promise<void>((resolve, reject) => {
    listener.once('error', (error) =>
      reject(new UserError('usage', `No browser can come back: ${error.message}`, { cause: error })),
    )
    listener.listen(transport.oauth?.callbackPort ?? 0, '127.0.0.1', resolve)
  })
  const { port } = listener.address() as AddressInfo
  const store = new TokenStore(options.tokens, name, transport.url, transport.oauth)
  let isAsked = false
  const open = (url: URL): void => {
    isAsked = true
    options.open(url)
  }
  const redirectUrl = `http://127.0.0.1:${port}/callback`
  const authorization = new Authorization(transport.oauth, store, { redirectUrl, state, open })
  const remote = remoteTransport(transport, authorization, options)
  const client = new Client({ name: 'portcullis', version })
  const timer = setLongTimeout(() => waiting.reject(new UserError('failed', 'Nobody has signed in.')), patience)
  options.signal.addEventListener('abort', () => waiting.reject(new UserError('interrupted', 'Interrupted.')), {
    once: true,
  })
  waiting.promise.catch(() => undefined)
  try {
    await client.connect(remote)
    // Some servers let everybody connect, and ask for a token only later.
    if (client.getServerCapabilities()?.tools !== undefined) await client.listTools()
    return false
  } catch (error) {
    if (!isAsked) throw asUserError(error, server, options.environment)
    if (options.returned !== undefined)
      void options.returned().then((text) => waiting.resolve(new URL(text)), waiting.reject)
    const code = codeIn(await waiting.promise, state)
    await remote.finishAuth(code).catch((cause: unknown) => {
      throw asUserError(cause, server, options.environment)
    })
    return true
  } finally {
    timer.cancel()
    await client.close().catch(() => undefined)
    listener.close()
  }
}

/** @throws UserError `failed` if the authorization server sends no code, or the answer is to another question */
function codeIn({ searchParams }: URL, state: string): string {
  const [code, error] = [searchParams.get('code'), searchParams.get('error')]
  if (searchParams.get('state') !== state)
    throw new UserError('failed', 'The address to which the browser was sent belongs to another sign-in.')
  if (code !== null) return code
  const why = [error, searchParams.get('error_description')].filter((each) => each !== null).join(': ')
  throw new UserError('failed', `Nobody was signed in${why === '' ? '' : `: ${why}`}.`)
}

function asUserError(error: unknown, server: McpServer, environment: SignInOptions['environment']): UserError {
  if (error instanceof UserError) return error
  return new UserError('failed', `${server.origin}: ${describeError(error, server, environment)}`, { cause: error })
}
