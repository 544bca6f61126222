import * as z from 'zod'
import { defineTool } from '../tools/define-tool.ts'
import { denied } from '../tools/denied-result.ts'
import type { Tool } from '../tools/tool.ts'
import type { McpServers } from './servers.ts'

/** Creates the tools that list and read the servers' resources, which are documents. Returns no tools if there is no server. */
export function resourceTools(servers: McpServers): readonly Tool[] {
  return servers.states().length === 0 ? [] : [listResources(servers), readResource(servers)]
}

function listResources(servers: McpServers): Tool {
  return defineTool({
    name: 'list_mcp_resources',
    description: 'Lists the documents that MCP servers offer, with their URIs.',
    input: z.object({ server: z.string().optional().describe('List only the documents of this server.') }),
    deferred: true,
    readOnly: () => true,
    concurrencySafe: () => true,
    run: async ({ server }) => {
      const names = servers.states().map((state) => state.server.name)
      if (server !== undefined && !names.includes(server)) {
        return { ok: false, output: `There is no MCP server ${server}. The servers are ${names.join(', ')}.` }
      }
      const parts = await Promise.all(
        names
          .filter((name) => server === undefined || name === server)
          .map(async (name) => {
            try {
              const resources = await (await servers.connection(name)).listResources()
              return resources.map(({ uri, name: title, mimeType, description }) =>
                [`${name}: ${uri}`, title, mimeType, description].filter((part) => part !== '').join(' · '),
              )
            } catch (error) {
              return [`${name}: ${(error as Error).message}`]
            }
          }),
      )
      const lines = parts.flat()
      return { ok: true, output: lines.length === 0 ? 'No server offers any documents.' : lines.join('\n') }
    },
  })
}

function readResource(servers: McpServers): Tool {
  return defineTool({
    name: 'read_mcp_resource',
    description: 'Reads a document that an MCP server offers.',
    input: z.object({ server: z.string(), uri: z.string() }),
    deferred: true,
    guarded: true,
    run: async ({ server, uri }, context) => {
      const action = { type: 'mcp' as const, server, tool: 'resources/read', arguments: { uri } }
      const { verdict, approved } = await context.review(action)
      if (approved === undefined) return denied(verdict)
      try {
        const { text, images } = await (await servers.connection(server)).readResource(uri, context.signal)
        return { ok: true, output: text, images }
      } catch (error) {
        return { ok: false, output: (error as Error).message }
      }
    },
  })
}
