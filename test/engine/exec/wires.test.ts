import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, eventsOf } from '../../support/agent.ts'
import { call, say, think, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository, type Exec } from '../../support/workspace.ts'
import { wires, type WireUnderTest } from '../models/wires.ts'

const patch = (name: string): string => `*** Begin Patch\n*** Add File: ${name}\n+größer 🚪\n*** End Patch\n`
const soon = { 'retry-after-ms': '1' }

type Run = Exec & { readonly cwd: string; readonly home: string }

/** Runs the program against a mock of one provider. */
async function run(wire: WireUnderTest, replies: readonly Reply[], ...more: readonly string[]): Promise<Run> {
  const mock = await wire.mock({ replies })
  onTestFinished(() => mock.close())
  const { args, env } = wire.agent(mock.baseUrl)
  const cwd = repository()
  const home = tempDir()
  const ended = await agent(
    ['exec', '--json', '-s', 'danger-full-access', '-m', wire.model, ...args, ...more, 'do it'],
    {
      cwd,
      home,
      env,
    },
  )
  return { ...ended, cwd, home, events: eventsOf(ended.stdout), requests: mock.requests }
}

/** How a run must end: its exit code, the reason in its terminal event, a pattern for its message, and the number of requests. */
type End = { readonly code: number; readonly reason?: string; readonly message?: RegExp; readonly requests: number }

/**
 * What a run may meet, and how it must then end: a name, the model's replies, the options of the run, and the end. Replies may depend on the
 * provider's error format.
 */
const ends: readonly (readonly [string, (wire: WireUnderTest) => readonly Reply[], readonly string[], End])[] = [
  ['a final message', () => [[say('done')]], [], { code: 0, requests: 1 }],
  [
    'nothing to say after a call, until it is asked',
    () => [[call('exec_command', { cmd: 'true' })], [], [say('done')]],
    [],
    { code: 0, requests: 3 },
  ],
  [
    'calls of nothing, of broken JSON and of wrong arguments, each answered',
    () => [[call('nope', {}), call('exec_command', '{"cmd": '), call('exec_command', { comd: 'x' })], [say('done')]],
    [],
    { code: 0, requests: 2 },
  ],
  [
    'a 400',
    ({ error }) => [{ status: 400, body: error('Unknown parameter') }],
    [],
    { code: 6, reason: 'provider', message: /answered 400: Unknown parameter/, requests: 1 },
  ],
  [
    'a 401',
    ({ error }) => [{ status: 401, body: error('bad key', 'authentication_error') }],
    [],
    { code: 6, reason: 'provider', message: /answered 401: bad key/, requests: 1 },
  ],
  [
    'an empty account',
    ({ error }) => [{ status: 429, body: error('no quota', 'insufficient_quota') }],
    [],
    { code: 6, reason: 'provider', message: /no quota/, requests: 1 },
  ],
  [
    'a 429, a 500 and a 529 before the answer',
    ({ error }) => [
      ...[429, 500, 529].map((status) => ({ status, headers: soon, body: error('later') })),
      [say('done')],
    ],
    [],
    { code: 0, requests: 4 },
  ],
  [
    'a provider that stays down',
    ({ error }) => [503, 503].map((status) => ({ status, headers: soon, body: error('down') })),
    ['-c', 'request_max_retries=1'],
    { code: 6, reason: 'provider', message: /503: down \(gave up after 1 retry\)/, requests: 2 },
  ],
  [
    'a stream that is cut',
    () => [{ say: [say('a text that is long enough')], delivery: { cutAfter: 4 } }, [say('done')]],
    [],
    { code: 0, requests: 2 },
  ],
  [
    'a connection that is kept from an answer before, and then reset in the next one',
    () => [
      [call('exec_command', { cmd: 'true' })],
      { say: [say('a text that is long enough')], delivery: { cutAfter: 4, reset: true } },
      [say('done')],
    ],
    [],
    { code: 0, requests: 3 },
  ],
  [
    'a stream that stalls',
    () => [{ say: [say('a text that is long enough')], delivery: { stallAfter: 4 } }, [say('done')]],
    ['-c', 'stream_idle_timeout_ms=200'],
    { code: 0, requests: 2 },
  ],
  [
    'a stream that stalls whenever it is asked for',
    () => [1, 2].map(() => ({ say: [say('a text that is long enough')], delivery: { stallAfter: 4 } })),
    ['-c', 'stream_idle_timeout_ms=200', '-c', 'request_max_retries=1'],
    { code: 6, reason: 'provider', message: /stopped sending for 0\.2 s.* \(gave up after 1 retry\)/, requests: 2 },
  ],
  [
    'an event that is none',
    () => [{ frames: ['event: message_start\ndata: {"type":\n\n'] }, [say('done')]],
    [],
    { code: 0, requests: 2 },
  ],
  [
    'a truncated answer, again and again',
    ({ truncated }) =>
      [1, 2, 3, 4, 5].map(() => ({ say: [say('x')], end: { type: 'incomplete', reason: truncated } }) as const),
    [],
    { code: 6, reason: 'provider', message: /ended its response early.* 4 times/, requests: 5 },
  ],
  [
    'a truncated answer that is gone on with',
    ({ truncated }) => [{ say: [say('do')], end: { type: 'incomplete', reason: truncated } }, [say('ne')]],
    [],
    { code: 0, requests: 2 },
  ],
  [
    'a call that is cut off',
    ({ truncated }) => [
      { say: [call('exec_command', '{"cmd":"touch x')], end: { type: 'incomplete', reason: truncated } },
      [say('done')],
    ],
    [],
    { code: 0, requests: 2 },
  ],
  ['an empty answer, twice', () => [[], [think('hm')], [say('done')]], [], { code: 0, requests: 3 }],
  [
    'empty answers without end',
    () => [[], [], []],
    [],
    { code: 6, reason: 'provider', message: /ended with an empty answer/, requests: 3 },
  ],
  [
    'a filtered answer',
    ({ filtered }) => [{ say: [], end: { type: 'incomplete', reason: filtered } }],
    [],
    { code: 6, reason: 'provider', message: /ended its response early/, requests: 1 },
  ],
  [
    'a history that is too long, once',
    ({ error }) => [{ status: 400, body: error('prompt is too long') }, [say('Goal: it.')], [say('done')]],
    [],
    { code: 0, requests: 3 },
  ],
  [
    'a history that stays too long',
    ({ error }) => {
      const overflow = { status: 400, body: error('prompt is too long') }
      return [overflow, [say('Goal: it.')], overflow]
    },
    [],
    { code: 6, reason: 'provider', message: /already summarized/, requests: 3 },
  ],
  [
    'turns that are used up',
    () => [[call('exec_command', { cmd: 'true' })]],
    ['--max-turns', '1'],
    { code: 4, reason: 'budget', message: /--max-turns 1/, requests: 1 },
  ],
  ['a server that never answers', () => ['silence'], ['--timeout', '3'], { code: 4, reason: 'budget', requests: 1 }],
  [
    'a wait that is longer than the run may last',
    ({ error }) => [{ status: 429, headers: { 'retry-after': '60' }, body: error('later') }],
    ['--timeout', '3'],
    { code: 4, reason: 'budget', message: /took 3 s \(--timeout\)/, requests: 1 },
  ],
]

describe.each(wires)('$wire: a run that meets', (wire) => {
  test.each(ends)('%s', async (_, replies, args, { code, reason, message, requests }) => {
    const ended = await run(wire, replies(wire), ...args)
    const last = ended.events.at(-1)
    expect({ code: ended.code, requests: ended.requests.length }, ended.stderr).toEqual({ code, requests })
    expect(ended.events.filter(({ type }) => type === 'turn.completed' || type === 'turn.failed')).toEqual([last])
    if (code === 0) expect(last).toMatchObject({ type: 'turn.completed' })
    else expect(last).toMatchObject({ type: 'turn.failed', reason, exit_code: code })
    if (message !== undefined) expect(last).toMatchObject({ error: { message: expect.stringMatching(message) } })
    for (const text of [ended.stdout, ended.stderr, ...textsBelow(ended.home)]) expect(text).not.toContain('sk-test-')
  })
})

describe.each(wires)('$wire: a whole run', (wire) => {
  const turns: readonly Reply[] = [
    {
      say: [
        think('Erst schauen 👀.', 'sig-1'),
        say('Ich sehe nach – 今すぐ.'),
        call('exec_command', { cmd: 'echo "é 🚀"' }),
      ],
      usage: { input: 100, output: 10 },
    },
    {
      say: [call('exec_command', { cmd: 'echo 1' }), call('apply_patch', { input: patch('größe.txt') })],
      usage: { input: 200, cached: 90, output: 20 },
    },
    { say: [say('fertig 🚪')], usage: { input: 300, cached: 190, output: 5 } },
  ]

  test.each([1, 7])('is the same in pieces of %s bytes', async (chunkBytes) => {
    const ended = await run(
      wire,
      turns.map((turn) => ({ ...(turn as object), delivery: { chunkBytes } }) as Reply),
    )
    expect(ended.code).toBe(0)
    const items = ended.events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(items).toMatchObject([
      { type: 'reasoning', text: 'Erst schauen 👀.' },
      { type: 'agent_message', text: 'Ich sehe nach – 今すぐ.' },
      { type: 'command_execution', aggregated_output: 'é 🚀\n', exit_code: 0 },
      { type: 'command_execution', aggregated_output: '1\n' },
      { type: 'file_change', status: 'completed' },
      { type: 'agent_message', text: 'fertig 🚪' },
    ])
    expect(readFileSync(join(ended.cwd, 'größe.txt'), 'utf8')).toBe('größer 🚪\n')
    expect(ended.events.at(-1)).toMatchObject({
      usage: { input_tokens: 600, cached_input_tokens: 280, output_tokens: 35 },
    })
  })

  test('repeats what it sent before byte for byte, so that the provider’s cache is used', async () => {
    const { requests } = await run(wire, turns)
    const bodies = requests.map(({ body }) => body as Record<string, unknown>)
    for (const [at, body] of bodies.slice(1).entries()) {
      const before = bodies[at] ?? {}
      for (const key of ['model', 'instructions', 'system', 'tools']) {
        expect(JSON.stringify(body[key]), key).toBe(JSON.stringify(before[key]))
      }
      expect(conversation(body, wire).startsWith(conversation(before, wire).slice(0, -1))).toBe(true)
      expect(conversation(body, wire).length).toBeGreaterThan(conversation(before, wire).length)
    }
  })
})

/** The contents of all files that a run has left in a folder. */
function textsBelow(folder: string): readonly string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
  return paths.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path, 'latin1'))
}

/** The messages of a request as text, without the marks that say where Anthropic's cache ends, because they aren't part of what is cached. */
function conversation(body: Record<string, unknown>, wire: WireUnderTest): string {
  const unmarked = (key: string, value: unknown): unknown => (key === 'cache_control' ? undefined : value)
  return JSON.stringify(body[wire.conversation], unmarked)
}
