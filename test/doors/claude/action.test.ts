import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { call, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { repository } from '../../support/workspace.ts'
import { resultIn, type Message } from './door.ts'
import { ask, whyNoSdk } from './sdk.ts'

const test = testUnlessOnCi(whyNoSdk())

/** A server like those of Anthropic's action: a program that is given on the command line. */
const server = `
const lines = require('node:readline').createInterface({ input: process.stdin })
const tools = [{ name: 'update_claude_comment', inputSchema: { type: 'object', properties: { body: { type: 'string' } } } }]
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { body } }) => ({ content: [{ type: 'text', text: process.env.REPO_OWNER + ' says ' + body }] }),
}
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }))
})`

describe.skipIf(needsBubblewrap())("Anthropic's action for GitHub", () => {
  test('its options, its own servers and its permissions', async () => {
    const cwd = repository({ 'a.txt': 'a', 'CLAUDE.md': 'Mind the gap.' })
    const replies: readonly Reply[] = [
      [call('mcp__github_comment__update_claude_comment', { body: 'working on it' })],
      [call('exec_command', { cmd: 'git add a.txt' })],
      [call('exec_command', { cmd: 'git push' })],
      [call('write_file', { path: 'b.txt', content: 'b' })],
      [call('structured_output', { done: true })],
    ]
    const mcpServers = { github_comment: { command: 'node', args: ['-e', server], env: { REPO_OWNER: 'octo' } } }
    const schema = { type: 'object', properties: { done: { type: 'boolean' } }, required: ['done'] }
    const { query, mock } = await ask('fix it', replies, {
      cwd,
      settingSources: ['user', 'project', 'local'],
      systemPrompt: { type: 'preset', preset: 'claude_code', append: 'You are on GitHub.' },
      allowedTools: ['Edit', 'Read', 'Write', 'mcp__github_comment__update_claude_comment', 'Bash(git add:*)'],
      disallowedTools: ['WebSearch', 'WebFetch'],
      maxTurns: 10,
      extraArgs: {
        'mcp-config': JSON.stringify({ mcpServers }),
        'json-schema': JSON.stringify(schema),
        'permission-mode': 'acceptEdits',
      },
    })
    const messages: Message[] = []
    for await (const message of query) {
      messages.push(message)
      if (message.type === 'result') break
    }
    const [init] = messages
    expect(init).toMatchObject({
      subtype: 'init',
      session_id: expect.any(String) as string,
      permissionMode: 'acceptEdits',
    })
    const result = resultIn(messages)
    expect(result).toMatchObject({
      subtype: 'success',
      is_error: false,
      num_turns: 5,
      structured_output: { done: true },
    })
    expect(result['permission_denials']).toMatchObject([{ tool_name: 'Bash', tool_input: { command: 'git push' } }])
    expect(result['modelUsage']).toMatchObject({ 'claude-opus-5-5': { contextWindow: 1_000_000 } })
    const sent = JSON.stringify(mock.requests.at(-1)?.body)
    for (const text of ['You are on GitHub.', 'Mind the gap.', 'octo says working on it']) expect(sent).toContain(text)
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('b')
  })
})
