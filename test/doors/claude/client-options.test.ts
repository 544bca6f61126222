import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { claude, resultIn } from './door.ts'
import { ask, drain, prompts, sdk, whyNoSdk } from './sdk.ts'

const bodiesOf = (requests: readonly { readonly body?: unknown }[]): readonly string[] =>
  requests.map(({ body }) => JSON.stringify(body))
const poet = { poet: { description: 'writes verses', prompt: 'You rhyme.', tools: ['Read'] } }
const hand: Reply = [call('agent', { title: 'a verse', prompt: 'about rain', agent: 'poet' })]

describe.skipIf(needsBubblewrap())('what a client of the Agent SDK adds', () => {
  testUnlessOnCi(whyNoSdk())('agents: one is offered, has its own prompt, and may use only its tools', async () => {
    const started = await ask(
      'go',
      [hand, [call('exec_command', { cmd: 'touch made' })], [say('Rain, rain')], [say('done')]],
      {
        agents: poet,
        permissionMode: 'bypassPermissions',
        allowDangerouslySkipPermissions: true,
      },
    )
    expect(resultIn(await drain(started))).toMatchObject({ subtype: 'success' })
    const [first, second] = bodiesOf(started.mock.requests)
    expect(first).toContain('writes verses')
    expect(second).toContain('You rhyme.')
    expect(existsSync(join(started.cwd, 'made'))).toBe(false)
  })

  testUnlessOnCi(whyNoSdk())(
    'setMcpServers: a server in the client’s process is there in the next turn, and then no longer',
    async () => {
      const { createSdkMcpServer, tool } = await sdk()
      const now = tool('now', 'The time.', {}, () =>
        Promise.resolve({ content: [{ type: 'text', text: 'it is noon' }] }),
      )
      const input = prompts()
      const replies = [
        [say('one')],
        [call('mcp__clock__now', {})],
        [say('two')],
        [call('mcp__clock__now', {})],
        [say('three')],
      ]
      const { query, mock } = await ask(input, replies, { allowedTools: ['mcp__clock__now'] })
      const results: unknown[] = []
      input.push('first')
      for await (const message of query) {
        if (message.type !== 'result') continue
        results.push(message['result'])
        if (results.length === 1) {
          const clock = createSdkMcpServer({ name: 'clock', tools: [now] })
          expect(await query.setMcpServers({ clock })).toMatchObject({ added: ['clock'], removed: [], errors: {} })
          input.push('second')
        } else if (results.length === 2) {
          expect(await query.setMcpServers({})).toMatchObject({ added: [], removed: ['clock'], errors: {} })
          input.push('third')
        } else input.end()
      }
      expect(results).toEqual(['one', 'two', 'three'])
      const sent = bodiesOf(mock.requests)
      expect(sent[2]).toContain('it is noon')
      expect(sent[4]).toContain('There is no tool')
    },
  )
})

describe.skipIf(needsBubblewrap())('options of claude -p', () => {
  test.each(['as JSON', 'in a file'])('hooks in --settings %s are called, and can refuse', async (how) => {
    const hook = { type: 'command', command: "echo 'not on my watch' >&2; exit 2" }
    const settings = JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } })
    const cwd = repository()
    const given = how === 'as JSON' ? settings : join(tempDir({ 'settings.json': settings }), 'settings.json')
    const { requests } = await claude(['-p', '--dangerously-skip-permissions', '--settings', given, 'go'], {
      replies: [[call('exec_command', { cmd: 'touch made' })], [say('done')]],
      cwd,
    })
    expect(bodiesOf(requests)[1]).toContain('not on my watch')
    expect(existsSync(join(cwd, 'made'))).toBe(false)
  })

  test.each([
    ['--settings', '{"hooks": {"PreToolUse": [{"hooks": [{"type": "comand"}]}]}}', 'hooks.PreToolUse'],
    ['--agents', '{"poet": {"description": "writes"}}', '--agents'],
    ['--agents', '{"poet": {"description": "a", "prompt": "b", "disallowedTools": ["Bash"]}}', 'list in tools'],
  ])('%s %s is refused before anything happens', async (option, value, words) => {
    const { code, stderr, requests } = await claude(['-p', option, value, 'go'], { replies: [[say('done')]] })
    expect([code, stderr, requests]).toEqual([1, expect.stringContaining(words), []])
  })

  test.each<readonly [options: readonly string[], offered: readonly string[]]>([
    [
      ['--disallowedTools', 'Bash'],
      ['Read', 'Edit'],
    ],
    [['--disallowedTools', 'Bash,Edit,Write'], ['Read']],
    [
      ['--tools', 'Read,Bash'],
      ['Read', 'Bash'],
    ],
  ])('with %j, the model is offered only tools that are left', async (options, offered) => {
    const { messages, requests } = await claude(
      ['-p', '--output-format', 'stream-json', '--verbose', ...options, '--', 'go'],
      { replies: [[say('done')]] },
    )
    const named = messages.find(({ subtype }) => subtype === 'init')?.['tools'] as readonly string[]
    expect(named.filter((name) => ['Bash', 'Read', 'Edit'].includes(name)).toSorted()).toEqual(offered.toSorted())
    const { tools } = requests[0]?.body as { readonly tools: readonly { readonly name: string }[] }
    const commands = tools.filter(({ name }) => name === 'exec_command')
    expect(commands).toHaveLength(offered.includes('Bash') ? 1 : 0)
  })
})
