import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { instructionsFor } from '../../../engine/run/model-instructions.ts'
import { agent, eventsOf } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say, startMockOpenAI, type MockOpenAI, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

type Sent = {
  readonly input: readonly { readonly role?: string; readonly content?: unknown; readonly output?: unknown }[]
}

/** Runs `agent exec --json` with replies that depend on who asks: the run itself, or an agent, which is recognized by its prompt. */
async function withAgents(
  replies: Readonly<Record<string, readonly Reply[]>>,
  args: readonly string[] = [],
  options: { readonly cwd?: string; readonly home?: string } = {},
) {
  const asked = new Map<string, number>()
  const mock: MockOpenAI = await startMockOpenAI({
    replies: ({ body }) => {
      const users = (body as Sent).input.filter(({ role }) => role === 'user').map((one) => JSON.stringify(one.content))
      const who = Object.keys(replies).find((name) => users[0]?.includes(name)) ?? ''
      const turn = asked.get(who) ?? 0
      asked.set(who, turn + 1)
      return replies[who]?.[turn] ?? [say(`${who}: nothing more`)]
    },
  })
  onTestFinished(() => mock.close())
  const cwd = options.cwd ?? repository()
  const words = ['exec', '-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`, '--json', ...args, 'the boss']
  const ended = await agent(words, { cwd, home: options.home ?? tempDir(), env: { OPENAI_API_KEY: 'sk-test' } })
  const events = eventsOf(ended.stdout)
  const items = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
  return {
    ...ended,
    cwd,
    events,
    items,
    requests: mock.requests,
    told: () => JSON.stringify(mock.requests.at(-1)?.body),
  }
}

const hand = (prompt: string, more: object = {}) => call('agent', { title: 'a task', prompt, ...more })
const done = [say('done')]

describe.skipIf(needsBubblewrap())('handing work to an agent', () => {
  test('the agent knows only its prompt, works in the same workspace, and reports back', async () => {
    const ended = await withAgents({
      'the boss': [[say('I have a secret'), hand('write the file')], done],
      'write the file': [[call('exec_command', { cmd: 'touch written' })], [say('it is written')]],
    })
    expect(ended.code, ended.stderr).toBe(0)
    expect(existsSync(join(ended.cwd, 'written'))).toBe(true)
    expect(ended.told()).toContain('agent-1 reports:\\nit is written')
    expect(JSON.stringify(ended.requests[1]?.body)).not.toContain('secret')
    expect(ended.items).toContainEqual(expect.objectContaining({ type: 'command_execution', agent_id: 'agent-1' }))
    // Changes by the agent's commands count as changes of the run.
    expect(ended.events.at(-1)).toMatchObject({ changes: { files: 1, by_commands: 1 } })
  })

  test('in a transaction, the run and the agent share one private view, and either all their changes land at the end or none do', async () => {
    const replies = {
      'the boss': [
        [call('exec_command', { cmd: 'echo boss > boss.txt' }), hand('write the file')],
        [call('exec_command', { cmd: 'cat agent.txt' })],
        done,
      ],
      'write the file': [
        [call('exec_command', { cmd: 'cat boss.txt && echo agent > agent.txt' })],
        [say('it is written')],
      ],
    }
    const cut = await withAgents(replies, ['--max-turns', '2'])
    expect([cut.code, existsSync(join(cut.cwd, 'boss.txt')), existsSync(join(cut.cwd, 'agent.txt'))]).toEqual([
      4,
      false,
      false,
    ])
    const ended = await withAgents(replies, [])
    const outputs = ended.items.flatMap((item) => (item.type === 'command_execution' ? [item.aggregated_output] : []))
    expect([ended.code, outputs]).toEqual([0, ['', 'boss\n', 'agent\n']])
    expect([existsSync(join(ended.cwd, 'boss.txt')), existsSync(join(ended.cwd, 'agent.txt'))]).toEqual([true, true])
  })

  test('the agent gets the base rules and the patch format, but no tool to delegate work', async () => {
    const replies = { 'the boss': [[hand('write')], done], write: [[say('ok')]] }
    const { requests } = await withAgents(replies, ['-m', 'gpt-4.1'])
    const { instructions } = requests[1]?.body as { instructions: string }
    for (const part of ['What is not yours', '*** Begin Patch']) expect(instructions).toContain(part)
    expect(instructions).not.toContain('with agent')
    const names = (index: number) =>
      (requests[index]?.body as { tools: { name: string }[] }).tools.map(({ name }) => name)
    expect(names(0)).toContain('agent')
    expect(names(1)).not.toContain('agent')
  })

  test.each([true, false])(
    'several agents of one response work in parallel (in the background: %s)',
    async (background) => {
      const meet = (own: string, other: string) =>
        call('exec_command', {
          cmd: `touch ${own}; for i in $(seq 200); do [ -e ${other} ] && exit 0; sleep 0.05; done; exit 1`,
        })
      const ended = await withAgents({
        'the boss': [
          [hand('first', { background }), hand('second', { background })],
          ...(background ? [[call('wait_agents', {})]] : []),
          done,
        ],
        first: [[meet('a', 'b')], [say('met')]],
        second: [[meet('b', 'a')], [say('met too')]],
      })
      const commands = ended.items.filter(({ type }) => type === 'command_execution')
      expect(commands.map((item) => item.type === 'command_execution' && item.exit_code)).toEqual([0, 0])
      expect(ended.told()).toContain('met too')
    },
  )

  test('the agent can be sent another message, and remembers what it did', async () => {
    const ended = await withAgents({
      'the boss': [[hand('look')], [call('send_message', { to: 'agent-1', message: 'and the colour?' })], done],
      look: [[say('it is round')], [say('it is red')]],
    })
    expect(ended.told()).toContain('it is red')
    const second = JSON.stringify(ended.requests[3]?.body)
    for (const part of ['look', 'it is round', 'and the colour?']) expect(second).toContain(part)
  })

  test('its usage counts towards the run, and an exhausted budget ends it', async () => {
    const working = { say: [call('exec_command', { cmd: 'true' })], usage: { input: 9000, output: 90_000 } }
    const handing = { say: [hand('work')], usage: { input: 10, output: 1 } }
    const ended = await withAgents({ 'the boss': [handing, done], work: [working, done] }, ['--max-tokens', '100000'])
    expect(ended.code).toBe(4)
    expect(ended.events.at(-1)).toMatchObject({
      type: 'turn.failed',
      usage: { input_tokens: 9010, output_tokens: 90_001 },
    })
  })

  test('the same Guardian judges its actions, and they are in the same audit log', async () => {
    const ended = await withAgents(
      { 'the boss': [[hand('push')], done], push: [[call('exec_command', { cmd: 'touch x' })], [say('no')]] },
      ['--ask-for-approval', 'untrusted'],
    )
    expect(existsSync(join(ended.cwd, 'x'))).toBe(false)
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 1 })
  })

  const refused = ['npm test', 'git push origin main', 'rm -r x'].map((cmd) => [call('exec_command', { cmd })])

  test.each([
    ['one agent', { 'the boss': [[hand('work')], done], work: [...refused, [say('nothing works')]] }],
    [
      'an agent in the background',
      { 'the boss': [[hand('work', { background: true })], done], work: [...refused, [say('nothing works')]] },
    ],
    [
      'an agent that is a task',
      {
        'the boss': [[call('task_create', { title: 'a task', prompt: 'work' })], done],
        work: [...refused, [say('nothing works')]],
      },
    ],
    [
      'two agents and of the run itself',
      {
        'the boss': [[hand('first')], [hand('second')], refused[2], done],
        first: [refused[0], done],
        second: [refused[1], done],
      },
    ],
  ] as const)('if every call of %s was refused, the run is not done', async (_, replies) => {
    const ended = await withAgents(replies as never, ['--ask-for-approval', 'untrusted'])
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', result: 'denied', exit_code: 3 })
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringContaining('Every call was refused, in 3 responses')])
  })

  test('if an agent made one call, or few of its calls were refused, the run is done', async () => {
    const read = [call('exec_command', { cmd: 'ls' })]
    for (const work of [[...refused, read, done], refused.slice(0, 2).concat(done as never), [done]]) {
      const replies = { 'the boss': [[hand('work')], done], work }
      expect(await withAgents(replies as never, ['--ask-for-approval', 'untrusted'])).toMatchObject({ code: 0 })
    }
  })

  test.each([
    ['an agent in the background', hand('slowly', { background: true })],
    ['an agent that is a task', call('task_create', { title: 'a task', prompt: 'slowly' })],
  ])('if the model ends its turn while %s works, the run waits, and the model gets the report', async (_, start) => {
    const ended = await withAgents({
      'the boss': [[start], done, [say('it was slow')]],
      slowly: [[call('exec_command', { cmd: 'sleep 1; touch late' })], [say('it is slow')]],
    })
    expect([ended.code, existsSync(join(ended.cwd, 'late'))]).toEqual([0, true])
    expect(ended.told().split('agent-1 reports:\\nit is slow')).toHaveLength(2)
    const commands = ended.items.filter(({ type }) => type === 'command_execution')
    expect(commands).toEqual([expect.objectContaining({ agent_id: 'agent-1', status: 'completed' })])
    expect(ended.items.at(-1)).toMatchObject({ type: 'agent_message', text: 'it was slow' })
  })

  test('an agent that works when the time is up is stopped, and nobody calls that done', async () => {
    const ended = await withAgents(
      {
        'the boss': [[hand('sleep', { background: true })], done],
        sleep: [[call('exec_command', { cmd: 'sleep 600; touch late' })]],
      },
      ['--timeout', '8'],
    )
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', result: 'budget', exit_code: 4 })
    expect([ended.code, existsSync(join(ended.cwd, 'late'))]).toEqual([4, false])
    const commands = ended.items.filter(({ type }) => type === 'command_execution')
    expect(commands).toEqual([expect.objectContaining({ agent_id: 'agent-1', ended_by: 'cancelled' })])
    expect(ended.stderr).toMatch(/✗ sleep 600; touch late · cancelled/)
  })
})

describe.skipIf(needsBubblewrap())('an agent in a background task', () => {
  const begin = (prompt: string) => call('task_create', { title: 'a task', prompt })
  const wait = call('task_output', { task_id: 'task-1', wait_ms: 60_000 })

  test('works beside the run, and its report is the output of the task', async () => {
    const ended = await withAgents({
      'the boss': [[begin('write the file'), wait], done],
      'write the file': [[call('exec_command', { cmd: 'touch written' })], [say('it is written')]],
    })
    expect(ended.code, ended.stderr).toBe(0)
    expect(existsSync(join(ended.cwd, 'written'))).toBe(true)
    expect(ended.told()).toContain('task-1 has started (agent-1).')
    expect(ended.told()).toContain('task-1 is completed.\\nagent-1 reports:\\nit is written')
  })

  test('is ended by task_stop', async () => {
    const ended = await withAgents({
      'the boss': [[begin('sleep')], [call('task_stop', { task_id: 'task-1' })], done],
      sleep: [[call('exec_command', { cmd: 'sleep 60; touch late' })]],
    })
    expect(ended.told()).toContain('task-1 was stopped.\\nagent-1 did not finish:')
    expect(existsSync(join(ended.cwd, 'late'))).toBe(false)
  })

  test("can start commands as tasks itself, but can't delegate tasks", async () => {
    const ended = await withAgents({
      'the boss': [[hand('build')], done],
      build: [[begin('another'), call('task_create', { title: 'b', cmd: 'touch built' }), wait], [say('ok')]],
    })
    expect(existsSync(join(ended.cwd, 'built'))).toBe(true)
    expect(JSON.stringify(ended.requests[2]?.body)).toContain('task_create: the arguments are not valid')
  })
})

describe.skipIf(needsBubblewrap())('agents with a definition', () => {
  const reader =
    '---\nname: reader\ndescription: Reads and tells\ntools: Read, Bash(ls:*)\nmodel: sonnet\n---\nYou only read.\n'
  const options = () => ({ cwd: repository({ '.claude/agents/reader.md': reader }) })

  test('are listed for the model, and follow their own instructions', async () => {
    const { requests } = await withAgents(
      { 'the boss': [[hand('tell', { agent: 'reader' })], done], tell: [[say('ok')]] },
      [],
      options(),
    )
    expect(JSON.stringify(requests[0]?.body)).toContain('- reader: Reads and tells')
    // The agent's own instructions come after the general instructions that every agent gets.
    const { instructions } = requests[1]?.body as { instructions: string }
    expect(instructions).toBe(`${instructionsFor(['gpt-5.5'], { handsOn: false })}\n\n# Your part\nYou only read.\n`)
  })

  test('can use only the tools that they name', async () => {
    const ended = await withAgents(
      {
        'the boss': [[hand('tell', { agent: 'reader' })], done],
        tell: [[call('exec_command', { cmd: 'ls; touch x' })], [call('exec_command', { cmd: 'ls' })], [say('ok')]],
      },
      [],
      options(),
    )
    expect(existsSync(join(ended.cwd, 'x'))).toBe(false)
    expect(ended.items).toContainEqual(expect.objectContaining({ type: 'command_execution', status: 'completed' }))
    const tools = (ended.requests[1]?.body as { tools: { name: string }[] }).tools.map(({ name }) => name)
    expect(tools).toContain('exec_command')
    expect(tools).not.toContain('apply_patch')
  })

  test('can choose a model only if the repository is trusted', async () => {
    const other = '---\nname: other\nmodel: gpt-5.4\n---\nYou are another.\n'
    const cwd = repository({ '.claude/agents/other.md': other })
    for (const [args, model] of [
      [[], 'gpt-5.5'],
      [['--trust'], 'gpt-5.4'],
    ] as const) {
      const replies = { 'the boss': [[hand('tell', { agent: 'other' })], done], tell: [[say('ok')]] }
      const { requests } = await withAgents(replies, args, { cwd })
      expect(requests[1]?.body).toMatchObject({ model })
    }
  })

  test('an unknown name is answered with the known ones', async () => {
    const ended = await withAgents({ 'the boss': [[hand('tell', { agent: 'raeder' })], done] }, [], options())
    expect(ended.told()).toContain("Did you mean 'reader'?")
  })

  test('hooks run when they start and end', async () => {
    const hooks = {
      SubagentStart: [{ matcher: 'reader', hooks: [{ type: 'command', command: 'echo hello' }] }],
      SubagentStop: [{ hooks: [{ type: 'command', command: 'true' }] }],
    }
    const home = tempDir({ '.claude/settings.json': JSON.stringify({ hooks }) })
    const replies = { 'the boss': [[hand('tell', { agent: 'reader' })], done], tell: [[say('ok')]] }
    const { items } = await withAgents(replies, [], { ...options(), home })
    const heard = items.flatMap((item) => (item.type === 'hook' ? [item.event] : []))
    expect(heard).toEqual(['SubagentStart', 'SubagentStop'])
  })
})
