import process from 'node:process'
import { describe, expect, test } from 'vitest'
import type { AgentOptions } from '../../support/agent.ts'
import type { Output } from '../../support/mock-model.ts'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsPrograms } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { liar } from '../mcp/servers-support.ts'

const server = liar(`
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'change', inputSchema: { type: 'object' } }] } })
  send({ id, result: { content: [{ type: 'text', text: 'changed' }] } })`)

/** A configuration with what two of the actions in `asks` need: an allowed host, and an MCP server with a tool that may change something. */
const config = `[mcp_servers.other]
command = ${JSON.stringify(process.execPath)}
args = ["--input-type=module", "-e", ${JSON.stringify(server)}]
[sandbox_workspace_write]
allowed_hosts = ["allowed.example"]
`

/** Kinds of actions that need approval, each with a tool call that triggers one, and a pattern for the advice in the refusal. */
const asks: readonly (readonly [string, Output, RegExp])[] = [
  [
    'a command',
    call('exec_command', { cmd: 'cat /proc/1/environ' }),
    /`cat \/proc\/1\/environ`.*No rule and no other approval mode.* with a reviewer/,
  ],
  [
    'a command that asks to leave the sandbox',
    call('exec_command', { cmd: 'id', sandbox_permissions: 'require_escalated', justification: 'I want to' }),
    /: I want to\. Nobody is here.* can widen it in the configuration/,
  ],
  [
    'a patch',
    freeform('apply_patch', '*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\n'),
    /made\.txt.* another --ask-for-approval mode/,
  ],
  ['a read', call('read_file', { path: '/srv/.ssh/id_rsa' }), /\/srv\/\.ssh\/id_rsa.* can name a reviewer/],
  [
    'a connection',
    call('web_fetch', { url: 'http://allowed.example/page' }),
    /network_rule\(host = "allowed\.example", protocol = "http", decision = "allow"\)/,
  ],
  ['a tool of an MCP server', call('mcp__other__change', {}), /the permission mcp__other__change/],
]

/** Ways to start a run so that nobody can answer its questions. */
const absences: readonly (readonly [string, Partial<AgentOptions>])[] = [
  ['standard input is closed', { startedBy: ['sh', '-c', 'exec "$@" <&-', 'sh'] }],
  ['standard input is an open, silent pipe', { keepStdinOpen: true }],
  ['there is no terminal', { startedBy: ['setsid', '--wait', 'sh', '-c', 'exec "$@" </dev/null', 'sh'] }],
]

/**
 * Arguments for a run in the mode `untrusted`. If the run waited for an answer, the time limit would end it with a different exit code than a
 * refusal.
 */
const untrusted = [
  '--json',
  '--fail-on-denied',
  '--ask-for-approval',
  'untrusted',
  '--timeout',
  '30',
  '--stdin-timeout',
  '1',
]

describe.skipIf(needsBubblewrap() || needsPrograms('setsid')).each(absences)('where %s', (_, started) => {
  test.each(asks)('%s is refused at once, with advice on how to allow it', async (_kind, ask, remedy) => {
    const home = tempDir({ '.config/portcullis/config.toml': config })
    const cwd = repository()
    const args = [...untrusted, 'x']
    const { code, events, requests } = await exec([[ask], [say('never')]], args, { cwd, home, ...started })
    expect([code, requests.length]).toEqual([3, 1])
    const refused = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(refused).toMatchObject([{ verdict: { decision: 'deny', reason: expect.stringMatching(remedy) } }])
    expect(events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'stoppedByGuardian', exit_code: 3, denied: 1 })
  })

  test('all of it is also refused at once for a delegated agent', async () => {
    const home = tempDir({ '.config/portcullis/config.toml': config })
    const handing = [call('agent', { title: 'try', prompt: 'try it all' })]
    const trying = asks.map(([, ask]) => ask)
    const replies = [handing, trying, [say('none of it')], [say('never')]]
    const { code, events, requests } = await exec(replies, [...untrusted, 'x'], { cwd: repository(), home, ...started })
    expect([code, requests.length]).toEqual([3, 3])
    const items = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(items.filter(({ agent_id }) => agent_id === 'agent-1')).toMatchObject(
      asks.map(([, , remedy]) => ({ verdict: { decision: 'deny', reason: expect.stringMatching(remedy) } })),
    )
    expect(events.at(-1)).toMatchObject({ reason: 'stoppedByGuardian', exit_code: 3, denied: asks.length })
  })
})
