import type { Sandbox } from '../../sandbox/index.ts'
import type { McpServer } from '../mcp/server.ts'
import type { McpServers } from '../mcp/servers.ts'
import { fixedTools, type DynamicTools } from '../tools/dynamic-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { UserError } from '../core/user-error.ts'

/** The started MCP servers of a run. */
type OpenServers = {
  readonly tools: DynamicTools
  /** The servers; undefined if none is configured. */
  readonly servers: McpServers | undefined
  /** The servers' own instructions about their tools, for the model. Servers that start later are included. */
  readonly instructions: () => readonly string[]
  /** Sentences for the user about missing servers. */
  readonly notices: readonly string[]
  readonly close: () => Promise<void>
}

type ServersOptions = {
  readonly workspace: string
  readonly sandbox: Sandbox
  /** Opens the sandbox for servers that are configured to run unconfined. */
  readonly outside: () => Promise<Sandbox>
  readonly forbidsHost: (url: URL) => string | undefined
  /** The folder of the tokens of servers. */
  readonly tokens: string
  /** Whether the first request is sent without waiting for servers, because requests contain only the names of their tools. */
  readonly deferred: boolean
  /** Reports facts that become known only after the start, such as a missing server. */
  readonly tell: (message: string) => void
  /** The engine's own environment. */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly signal: AbortSignal
}

/**
 * Starts all MCP servers of a run at the same time, and waits for those whose tools the first request must contain.
 *
 * @throws UserError `usage` if a required server doesn't start, or a rule forbids its host
 */
export async function openServers(configured: readonly McpServer[], options: ServersOptions): Promise<OpenServers> {
  if (configured.length === 0)
    return {
      tools: fixedTools([]),
      servers: undefined,
      instructions: () => [],
      notices: [],
      close: () => Promise.resolve(),
    }
  // These modules are loaded only if a server is configured, because, together with the SDK and the schema checks, they make up a third of the code
  // that would be read at the start.
  const { startServers } = await import('../mcp/servers.ts')
  const { mcpTools, omissions } = await import('../mcp/mcp-tools.ts')
  const { resourceTools } = await import('../mcp/resource-tools.ts')
  const { serverInstructions } = await import('../mcp/describe-instructions.ts')
  const { workspace, sandbox, outside, environment, tokens, forbidsHost, signal } = options
  for (const { origin, name, transport } of configured) {
    const forbidden = 'url' in transport ? forbidsHost(transport.url) : undefined
    if (forbidden !== undefined)
      throw new UserError('usage', `${origin}: the MCP server ${name} can't be reached: ${forbidden}`)
  }
  const sandboxFor = ({ transport }: McpServer): Promise<Sandbox> =>
    transport.type === 'stdio' && !transport.sandboxed ? outside() : Promise.resolve(sandbox)
  let made: readonly Tool[] | undefined
  const servers = await startServers(
    configured,
    { workspace, sandboxFor, environment, tokens, forbidsHost, signal },
    {
      onChanged: ({ name }, problem) => {
        made = undefined
        if (problem !== undefined) options.tell(`The MCP server ${name} is not available: ${problem}`)
      },
      waitsFor: ({ alwaysLoad }) => alwaysLoad || !options.deferred,
    },
  )
  return {
    tools: {
      current: () => (made ??= [...mcpTools(servers), ...resourceTools(servers)]),
      awaited: servers.starting,
      settled: servers.settled,
      missing: () => omissions(servers),
    },
    servers,
    instructions: serverInstructions(servers),
    notices: omissions(servers),
    close: servers.close,
  }
}
