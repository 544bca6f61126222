import * as z from 'zod'
import { startupSeconds, type McpServer } from '../../mcp/server.ts'
import { serverName } from '../../mcp/server-name.ts'

const values = z
  .array(z.object({ name: z.string(), value: z.string() }))
  .transform((all): Readonly<Record<string, string>> => Object.fromEntries(all.map(({ name, value }) => [name, value])))
const http = z.object({ type: z.enum(['http', 'sse']), name: z.string(), url: z.url(), headers: values })
const stdio = z.object({ name: z.string(), command: z.string().min(1), args: z.array(z.string()), env: values })

/** An MCP server as a client hands it over. A program runs in the sandbox, and what a server says about its tools isn't trusted. */
export const mcpServer = z.union([http, stdio]).transform((given): McpServer => ({
  name: serverName(given.name),
  origin: 'the client',
  transport:
    'url' in given
      ? { type: given.type, url: new URL(given.url), headers: given.headers }
      : { type: 'stdio', argv: [given.command, ...given.args], env: given.env, cwd: undefined, sandboxed: true },
  ...{ required: false, trusted: false, alwaysLoad: false, enabledTools: undefined, disabledTools: [] },
  ...{ startupTimeoutMs: startupSeconds * 1000, toolTimeoutMs: 60_000 },
}))
