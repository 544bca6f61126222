import { InvalidArgumentError, Option, type Command } from 'commander'
import type { AddOptions, NamedServerOptions } from '../mcp/mcp-options.ts'
import { configOptions } from './config-options.ts'
import { another, words } from './option-values.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent mcp`, with the names and options of the commands of Codex and Claude Code. */
export function declareMcp(program: Command, finish: Finish): void {
  const mcp = program.command('mcp').description('add, list, try and remove MCP servers, and sign in to them')
  mcp.helpCommand(false).enablePositionalOptions()

  mcp
    .command('add')
    .description('add a server to your own configuration')
    .argument('<name>', "the server's name")
    .argument('[target...]', "the server's URL, or after -- the command that starts it")
    .option('--url <url>', "the server's URL")
    .addOption(
      new Option('-t, --transport <kind>', 'how to connect (default: by the URL)').choices([
        'stdio',
        'http',
        'sse',
        'ws',
      ]),
    )
    .option('-e, --env <name=value>', 'a variable of the command; may be repeated', assignment)
    .option('-H, --header <header>', 'a header, such as "X-Team: core"; may be repeated', another)
    .option('--bearer-token-env-var <name>', 'the environment variable with the token')
    .option('--oauth-client-id, --client-id <id>', "the client's id at the authorization server")
    .option('--client-credentials', 'the client proves itself, with its secret or its key: nobody signs in')
    .option('--client-secret-env-var <name>', "the environment variable with the client's secret")
    .option('--private-key-env-var <name>', "the environment variable with the client's private key, in PEM")
    .option('--issuer <url>', 'the only authorization server that the secret is sent to')
    .option('--scopes <scopes>', 'the scopes that tokens are requested for', words)
    .option('--oauth-resource <url>', 'the resource that tokens are requested for')
    .option('--callback-port <port>', 'the port to which a browser returns', port)
    .addOption(new Option('-s, --scope <place>', 'which configuration: only your own').choices(['user']))
    .addHelpText(
      'after',
      `
Examples:
  agent mcp add docs --url https://mcp.example.com --bearer-token-env-var DOCS_TOKEN
  agent mcp add files --env LEVEL=2 -- npx -y @modelcontextprotocol/server-filesystem .
  agent mcp add crm --url https://crm.example.com/mcp --client-credentials --client-id ci --client-secret-env-var CRM_SECRET`,
    )
    .action(async (name: string, target: string[], options: AddOptions) => {
      const { addServer } = await import('../mcp/add-server.ts')
      finish(addServer(name, target, options))
    })

  mcp
    .command('remove')
    .description('remove a server from your own configuration, and forget its tokens')
    .argument('<name>', "the server's name")
    .addOption(new Option('-s, --scope <place>', 'which configuration: only your own').choices(['user']))
    .action(async (name: string) => {
      const { removeServer } = await import('../mcp/add-server.ts')
      finish(removeServer(name))
    })

  under(mcp.command('list'))
    .description('list the servers that a run here would use')
    .action(async (options: NamedServerOptions) => {
      const { listServers } = await import('../mcp/list-servers.ts')
      finish(listServers(options))
    })

  under(mcp.command('get'))
    .description('show how a server is configured')
    .argument('<name>', "the server's name")
    .action(async (name: string, options: NamedServerOptions) => {
      const { listServers } = await import('../mcp/list-servers.ts')
      finish(listServers(options, name))
    })

  under(mcp.command('test'))
    .description('start or reach servers as a run would, and print their tools; exits with 1 if one is not available')
    .argument('[name]', 'the only server to try')
    .action(async (name: string | undefined, options: NamedServerOptions) => {
      const { testServers } = await import('../mcp/test-servers.ts')
      finish(await testServers(options, name))
    })

  configOptions(mcp.command('login'))
    .description('sign in to a server with a browser')
    .argument('<name>', "the server's name")
    .option('--scopes <scopes>', 'the scopes that tokens are requested for', words)
    .option('--no-browser', 'the browser is on another machine: paste the address that it ends at')
    .action(async (name: string, options: NamedServerOptions) => {
      const { signInToServer } = await import('../mcp/sign-in-command.ts')
      finish(await signInToServer(name, options))
    })

  mcp
    .command('logout')
    .description('forget the tokens of a server')
    .argument('<name>', "the server's name")
    .action(async (name: string) => {
      const { signOutOfServer } = await import('../mcp/sign-in-command.ts')
      finish(signOutOfServer(name))
    })
}

function under(command: Command): Command {
  return configOptions(command).option('--json', 'print JSON')
}

function assignment(value: string, earlier: readonly string[] = []): readonly string[] {
  if (/^[^=]+=/.test(value)) return [...earlier, value]
  throw new InvalidArgumentError('expected NAME=VALUE.')
}

function port(value: string): number {
  const number = Number(value)
  if (/^\d{1,5}$/.test(value) && number > 0 && number < 65_536) return number
  throw new InvalidArgumentError('expected a number from 1 to 65535.')
}
