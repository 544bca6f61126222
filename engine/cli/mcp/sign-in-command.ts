import { createInterface } from 'node:readline/promises'
import process from 'node:process'
import { forbiddenHosts, forbidsUrl } from '../../app/forbidden-hosts.ts'
import { findRepository, findWorkspace } from '../../app/workspace.ts'
import { readPolicies } from '../../config/read-policies.ts'
import { findAppPaths, findHome } from '../../core/app-paths.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'
import { signIn } from '../../mcp/oauth/sign-in.ts'
import { forgetTokens } from '../../mcp/oauth/token-store.ts'
import type { McpServer } from '../../mcp/server.ts'
import { serverName } from '../../mcp/server-name.ts'
import { tokensIn } from '../../mcp/tokens-in.ts'
import { catchInterrupts } from '../interrupts.ts'
import { print, tell } from '../print.ts'
import { configurationHere, serverNamed } from './configured-servers.ts'
import type { NamedServerOptions } from './mcp-options.ts'

/**
 * `agent mcp login`: a person signs in to a server with a browser; the tokens are stored for later runs. Returns the exit code.
 *
 * @throws UserError if nobody signed in
 */
export async function signInToServer(name: string, options: NamedServerOptions): Promise<number> {
  const { server: configured, places } = serverNamed(name, options)
  const server = withScopes(configured, options.scopes)
  const { config } = configurationHere(options)
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  const forbids = forbiddenHosts(readPolicies({ places, home: findHome(process.env), project, config }))
  const ending = new AbortController()
  const release = catchInterrupts((reason) => ending.abort(reason))
  try {
    const signedIn = await signIn(server, {
      environment: process.env,
      forbidsHost: (url) => forbidsUrl(forbids, url),
      tokens: tokensIn(places),
      signal: ending.signal,
      open: (url) => {
        tell('Open this address in a browser, and sign in:')
        print(url.href)
        if (options.browser === false)
          tell('Then paste here the address that the browser ends at, though it shows an error.')
      },
      returned: options.browser === false ? readAddress : undefined,
    })
    print(signedIn ? `Signed in to ${server.name}.` : `${server.name} doesn't ask anybody to sign in.`)
    return exitCodes.done
  } finally {
    release()
  }
}

/** `agent mcp logout`. Returns the exit code. */
export function signOutOfServer(name: string): number {
  const had = forgetTokens(tokensIn(findAppPaths(process.env)), serverName(name))
  print(had ? `The tokens of ${name} are forgotten.` : `There are no tokens of ${name}.`)
  return exitCodes.done
}

function withScopes(server: McpServer, scopes: readonly string[] | undefined): McpServer {
  const { transport } = server
  if (scopes === undefined || !('oauth' in transport) || transport.oauth === undefined) return server
  return { ...server, transport: { ...transport, oauth: { ...transport.oauth, scopes } } }
}

async function readAddress(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) {
    const text = line.trim()
    if (URL.canParse(text)) return text
    if (text !== '') throw new UserError('usage', `${JSON.stringify(text)} is not an address.`)
  }
  throw new UserError('usage', 'Standard input ended without an address.')
}
