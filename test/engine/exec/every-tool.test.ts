import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, eventsOf } from '../../support/agent.ts'
import { registeredTools } from '../../support/every-tool.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { liar } from '../mcp/servers-support.ts'

const fixture = (name: string): string => new URL(`../../../fixtures/every-tool/${name}`, import.meta.url).pathname

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

type Line = { readonly expect?: readonly unknown[]; readonly events?: readonly Recorded[] }
type Recorded = { readonly type: string; readonly name?: string; readonly arguments?: { readonly name?: string } }

function linesOf(text: string): readonly Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

/** A repository, a home and a web site that the recording is about. */
async function scene() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').setHeader('date', 'today').end('<h1>A page</h1><p>Some words.</p>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const site = `127.0.0.1:${(server.address() as AddressInfo).port}`
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
    '.claude/agents/helper.md': `---\nname: helper\ndescription: Counts\nmodel: replay:${fixture('helper.jsonl')}\n---\nYou count.\n`,
    'schema.json': '{"type":"object","properties":{"said":{"type":"string"}}}',
  })
  return { cwd, home, site, args: ['--output-schema', join(home, 'schema.json')] }
}

/** Plays the recording, and gives what a recording of that would be. */
async function play(text: string) {
  const { cwd, home, site, args } = await scene()
  const recording = join(tempDir({ 'played.jsonl': text.replaceAll('<<site>>', site) }), 'played.jsonl')
  const again = join(tempDir(), 'again.jsonl')
  const words = ['exec', '--json', '-m', `replay:${recording}`, '--record', again, ...args, 'use every tool once']
  const ended = await agent(words, { cwd, home })
  return { ...ended, cwd, recorded: readFileSync(again, 'utf8').replaceAll(site, '<<site>>') }
}

const conversation = readFileSync(fixture('conversation.jsonl'), 'utf8')

describe.skipIf(needsBubblewrap())('a recorded run in which the model uses every built-in tool', () => {
  test.runIf(process.env['RECORD'] === '1')('is recorded anew', async () => {
    const [header, ...lines] = linesOf(conversation)
    const unexpected = [header, ...lines.map(({ events }) => ({ events }))]
    const { recorded, stderr, code } = await play(unexpected.map((line) => `${JSON.stringify(line)}\n`).join(''))
    expect(code, stderr).toBe(0)
    const body = recorded.slice(recorded.indexOf('\n') + 1)
    writeFileSync(fixture('conversation.jsonl'), `${JSON.stringify(header)}\n${body}`)
  })

  test('plays in the real sandbox, and every tool returns what it returned then', async () => {
    const { code, stderr, stdout, cwd } = await play(conversation)
    expect(code, stderr).toBe(0)
    const events = eventsOf(stdout)
    expect(events[0]).toMatchObject({ config: { sandbox_mode: 'workspace-write', sandbox_backend: 'bubblewrap' } })
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 0 })
    // What the provider searches is no call of ours, and an item all the same.
    expect(events).toContainEqual(
      expect.objectContaining({ item: expect.objectContaining({ type: 'web_search', query: 'how to wash hands' }) }),
    )
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('one\ntwo again\nthree\n')
  })

  test('leaves out no tool that is registered, and expects a result of each call but the one that ends it', async () => {
    const lines = linesOf(conversation).slice(1)
    const called = lines.flatMap(({ events = [] }) => events.flatMap(({ name }) => (name === undefined ? [] : [name])))
    const { cwd, home, args } = await scene()
    const { requests } = await exec([[{ type: 'text', text: '{}' }]], [...args, 'hello'], { cwd, home })
    const unused = registeredTools(requests[0]?.body).filter((name) => !called.includes(name))
    expect(unused, 'add a line for each to fixtures/every-tool/conversation.jsonl').toEqual([])
    const unchecked = lines.slice(1).filter(({ expect: results = [] }) => results.length === 0)
    expect(unchecked).toEqual([])
  })
})
