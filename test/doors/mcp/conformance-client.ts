/**
 * The client that the conformance suite starts for each of its scenarios: a user who adds the server, signs in where that is needed, and has a run call its tool.
 * The suite gives the server's URL as the last argument.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { execa } from 'execa'
import { call, say, startMockOpenAI } from '../../support/mock-openai.ts'

type Context = {
  readonly client_id?: string
  readonly client_secret?: string
  readonly private_key_pem?: string
}

const agent = new URL('../../../dist/bin/agent.js', import.meta.url).pathname
const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context

const tools: Readonly<Record<string, readonly [tool: string, input: object]>> = {
  tools_call: ['add_numbers', { a: 5, b: 3 }],
  'elicitation-sep1034-client-defaults': ['test_client_elicitation_defaults', {}],
  'sse-retry': ['test_reconnection', {}],
}
const [tool, input] = tools[scenario] ?? ['test-tool', {}]

const home = mkdtempSync(join(tmpdir(), 'conformance-'))
const replies = [[call(`mcp__suite__${tool}`, input)], [say('done')]]
const mock = await startMockOpenAI({ replies: (_, index) => replies[index % 2] ?? [say('done')] })
const env = {
  ...{ HOME: home, XDG_CONFIG_HOME: undefined, XDG_STATE_HOME: undefined, CODEX_HOME: undefined },
  ...{ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: mock.baseUrl },
  ...{ CLIENT_SECRET: context.client_secret, CLIENT_KEY: context.private_key_pem },
}

/** Runs `agent`. A browser opens the addresses that it prints. Returns its exit code and what it said. */
async function run(args: readonly string[]): Promise<{ readonly code: number | undefined; readonly said: string }> {
  const child = execa(process.execPath, [agent, ...args], { cwd: home, env, stdin: 'ignore', reject: false, all: true })
  const opened = (async () => {
    for await (const line of child.iterable({ from: 'stdout' }))
      if (/^https?:/.test(line)) await fetch(line).catch((error: unknown) => process.stderr.write(`${String(error)}\n`))
  })()
  const { exitCode: code, all } = await child
  await opened
  process.stderr.write(`${args.join(' ')}: ${code}\n${all}\n`)
  return { code, said: all }
}

const isAlone = scenario.startsWith('auth/client-credentials')
const secret = ['--client-secret-env-var', 'CLIENT_SECRET']
await run([
  ...['mcp', 'add', 'suite', '--url', url],
  ...(context.client_id === undefined ? [] : ['--client-id', context.client_id]),
  ...(context.client_secret === undefined ? [] : secret),
  ...(context.private_key_pem === undefined ? [] : ['--private-key-env-var', 'CLIENT_KEY']),
  ...(isAlone ? ['--client-credentials'] : []),
])
// The document at this URL is the suite's own.
const metadata = 'mcp_servers.suite.oauth.client_metadata_url="https://conformance-test.local/client-metadata.json"'
const config = scenario === 'auth/basic-cimd' ? ['-c', metadata] : []
const exec = [
  'exec',
  '--skip-git-repo-check',
  '-m',
  'gpt-5.5',
  '-c',
  'permissions.allow=["mcp__suite"]',
  ...config,
  'go',
]
if (scenario.startsWith('auth/') && !isAlone) await run(['mcp', 'login', 'suite', ...config])
let { code, said } = await run(exec)
const wanted = /agent mcp login suite --scopes (\S+)/.exec(said)?.[1]
if (wanted !== undefined) {
  await run(['mcp', 'login', 'suite', '--scopes', wanted, ...config])
  ;({ code, said } = await run(exec))
}
await mock.close()
rmSync(home, { recursive: true, force: true })
process.exitCode = code ?? 1
