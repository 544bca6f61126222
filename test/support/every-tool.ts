import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import { builtInTools } from '../../engine/app/built-in-tools.ts'
import { liar } from '../engine/mcp/servers-support.ts'
import { tempDir } from './temp-dir.ts'
import { repository } from './workspace.ts'

type Body = { readonly tools?: readonly { readonly name?: string; readonly description?: string }[] }

/** Tools that a run has but doesn't offer, because they could only be refused. */
const notAlwaysOffered = ['save_memory']

/**
 * Every tool of a run, as the run itself declares them: those that a request offers, those that it only names for a search, and built-in ones that
 * are accepted without being offered. Tools of MCP servers can appear at any time, so they are left out.
 *
 * @param body a request of the run, made with `tool_search = "always"` so that the search itself is among them
 */
export function registeredTools(body: unknown): readonly string[] {
  const offered = (body as Body).tools ?? []
  const search = offered.find(({ name }) => name === 'tool_search')?.description ?? ''
  const named = /These tools can be found: (.*?)\.(?: Servers |$)/.exec(search)?.[1]?.split(', ') ?? []
  const names = [
    ...offered.flatMap(({ name }) => (name === undefined ? [] : [name])),
    ...named,
    ...builtInTools.map(({ name }) => name),
    ...notAlwaysOffered,
  ]
  return [...new Set(names)].filter((name) => !name.startsWith('mcp__')).sort()
}

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const files = {
  'notes.txt': 'one\ntwo\nthree\n',
  'book.ipynb': `${JSON.stringify({ cells: [{ cell_type: 'code', id: 'a', metadata: {}, execution_count: null, outputs: [], source: 'print(1)' }], metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`,
  '.claude/skills/greet/SKILL.md':
    '---\nname: greet\ndescription: How one greets here\n---\nSay hello to $ARGUMENTS.\n',
}

/** An MCP server with one document. */
const docs = liar(`
  if (method === 'tools/list') return send({ id, result: { tools: [] } })
  if (method === 'resources/list') return send({ id, result: { resources: [{ uri: 'docs://guide', name: 'The guide' }] } })
  if (method === 'resources/read') return send({ id, result: { contents: [{ uri: params.uri, text: 'Wash your hands.' }] } })
  send({ id, result: {} })`).replace('{ tools: {} }', '{ tools: {}, resources: {} }')

/**
 * Creates a repository, a home directory and a web site for the recorded run that uses every tool.
 *
 * @param helperModel the model of the delegated agent; undefined: the run's own
 */
export async function everyToolScene(helperModel?: string) {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').setHeader('date', 'today').end('<h1>A page</h1><p>Some words.</p>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const site = `0.0.0.0:${(server.address() as AddressInfo).port}`
  const cwd = repository(files)
  writeFileSync(join(cwd, 'picture.png'), picture)
  const config = `
    tool_search = "always"
    [permissions]
    allow = ["mcp__docs__*", "Edit(AGENTS.md)"]
    [mcp_servers.docs]
    command = ${JSON.stringify(process.execPath)}
    args = ["--input-type=module", "-e", ${JSON.stringify(docs)}]
    startup_timeout_sec = 30
    [sandbox_workspace_write]
    allowed_hosts = [{ host = "${site}", allow_private = true }]
    [sandbox_read]
    allow = ${JSON.stringify([dirname(process.execPath)])}`
  const home = tempDir({
    '.config/portcullis/config.toml': config,
    '.claude/agents/helper.md': `---\nname: helper\ndescription: Counts\n${helperModel === undefined ? '' : `model: ${helperModel}\n`}---\nYou count.\n`,
    'schema.json': '{"type":"object","properties":{"said":{"type":"string"}}}',
  })
  return { cwd, home, site, args: ['--output-schema', join(home, 'schema.json')] }
}
