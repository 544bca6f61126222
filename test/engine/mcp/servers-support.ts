import { dirname, join } from 'node:path'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import type { McpDependencies } from '../../../engine/mcp/connection.ts'
import type { McpServer, McpTransport } from '../../../engine/mcp/server.ts'
import { startServers, type McpServers } from '../../../engine/mcp/servers.ts'
import { openSandbox, parsePolicy } from '../../../sandbox/index.ts'
import { fileOfPackage, whyNotInstalled } from '../../support/doors.ts'
import { testUnlessOnCi, type Test } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Reference = 'everything' | 'filesystem' | 'memory'

/** The path of the program of a reference server. */
export function reference(name: Reference): string {
  return fileOfPackage(`@modelcontextprotocol/server-${name}/dist/index.js`)
}

/** The test function for tests that need a reference server. */
export function testWith(name: Reference): Test {
  return testUnlessOnCi(whyNotInstalled(`@modelcontextprotocol/server-${name}`))
}

/** The configuration of a server, with the usual settings except for those in `settings`. */
export function server(name: string, transport: McpTransport, settings: Partial<McpServer> = {}): McpServer {
  return {
    name,
    origin: 'test',
    transport,
    required: false,
    startupTimeoutMs: 20_000,
    toolTimeoutMs: 10_000,
    enabledTools: undefined,
    disabledTools: [],
    trusted: false,
    alwaysLoad: false,
    ...settings,
  }
}

/** The configuration of a server that is a Node program, given as a file or as source text. */
export function nodeServer(
  name: string,
  program: { readonly file: string } | { readonly source: string },
  args: readonly string[] = [],
  settings: Partial<McpServer> = {},
): McpServer {
  const words = 'file' in program ? [program.file] : ['--input-type=module', '-e', program.source]
  const argv = [process.execPath, ...words, ...args] as const
  return server(name, { type: 'stdio', argv, env: {}, cwd: undefined, sandboxed: true }, settings)
}

/** Starts servers in the sandbox of a workspace, and stops them at the end of the test. */
export async function start(
  servers: readonly McpServer[],
  options: {
    readonly workspace?: string
    readonly onChanged?: () => void
    readonly waitsFor?: (server: McpServer) => boolean
  } = {},
): Promise<McpServers> {
  const workspace = options.workspace ?? tempDir()
  const readableRoots = [dirname(process.execPath), new URL('../../..', import.meta.url).pathname]
  const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace, readableRoots }))
  onTestFinished(() => sandbox.close())
  const dependencies: Omit<McpDependencies, 'onToolsChanged'> = {
    workspace,
    sandboxFor: () => Promise.resolve(sandbox),
    environment: {},
    tokens: join(workspace, 'tokens'),
    forbidsHost: () => undefined,
    signal: new AbortController().signal,
  }
  const started = await startServers(servers, dependencies, options)
  onTestFinished(() => started.close())
  return started
}

/** The source of a server that answers with the code `answer`. It can give invalid answers, which no SDK would give. */
export function liar(answer: string): string {
  return `
    import { createInterface } from 'node:readline'
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
    const hello = { protocolVersion: '2025-06-18', serverInfo: { name: 'liar', version: '1' }, capabilities: { tools: {} } }
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (id === undefined) return
      if (method === 'initialize') return send({ id, result: hello })
      ${answer}
    })`
}
