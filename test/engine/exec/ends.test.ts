import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../engine/core/events.ts'
import { compileJsonSchema } from '../../../engine/core/json-schema.ts'
import { agent } from '../../support/agent.ts'
import { call, freeform, say, think, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access', '--json']
const terminals = ({ events }: Exec): readonly RunEvent[] =>
  events.filter(({ type }) => type === 'turn.completed' || type === 'turn.failed')

describe('every end of a run is reported exactly once, in the last event', () => {
  test('a session that can no longer be written', async () => {
    const ended = await exec(
      [[call('exec_command', { cmd: `echo ${'x'.repeat(40_000)}` })], [say('never')]],
      [...open, 'x'],
      {
        cwd: repository(),
        startedBy: ['bash', '-c', `trap '' XFSZ; ulimit -f 16; exec "$@"`, 'bash'],
      },
    )
    expect(ended.code).toBe(1)
    expect(terminals(ended)).toEqual([ended.events.at(-1)])
    expect(ended.events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'failed',
      error: { message: expect.stringContaining('disk takes no more data') },
    })
  })

  test('an error that nobody caught', async () => {
    const cwd = repository()
    const throws = `import { existsSync } from 'node:fs'
      setInterval(() => { if (existsSync('now')) throw new Error('boom') }, 20).unref()`
    const module = join(tempDir({ 'throws.mjs': throws }), 'throws.mjs')
    const ended = await exec(['silence'], [...open, 'x'], {
      cwd,
      env: { NODE_OPTIONS: `--import=${pathToFileURL(module).href}` },
      onStart: (child) => child.stdout?.once('data', () => writeFileSync(join(cwd, 'now'), '')),
    })
    expect(ended.code).toBe(1)
    expect(terminals(ended)).toEqual([ended.events.at(-1)])
    expect(ended.events.at(-1)).toMatchObject({ reason: 'failed', error: { message: expect.stringContaining('boom') } })
  })

  test.each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
    ['SIGHUP', 143, 'terminated'],
  ] as const)('%s while the model is silent', async (signal, code, reason) => {
    const ended = await exec(['silence'], [...open, 'x'], {
      cwd: repository(),
      onStart: (child) => child.stdout?.once('data', () => child.kill(signal)),
    })
    expect(ended.code).toBe(code)
    expect(terminals(ended)).toEqual([ended.events.at(-1)])
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', reason, exit_code: code })
  })
})

/** Reasons in terminal events, each with the replies and options of a run that ends for this reason, and the exit code. */
const classes: readonly (readonly [string, readonly Reply[], readonly string[], number])[] = [
  ['done', [[say('ok')]], [], 0],
  ['failed', [1, 2, 3, 4].map(() => [say('no JSON')]), ['--output-schema', 'schema.json'], 1],
  ['stoppedByGuardian', [[call('exec_command', { cmd: 'rm -rf /' })]], ['--fail-on-denied'], 3],
  ['budget', [[call('exec_command', { cmd: 'true' })]], ['--max-turns', '1'], 4],
  ['provider', [{ status: 400, body: { error: { message: 'refused' } } }], [], 6],
]

test.each(classes)('a run that ends as %s exits with the same code, with events and without', async (...row) => {
  const [reason, replies, args, code] = row
  const cwd = repository({ 'schema.json': '{"type":"object"}' })
  const home = tempDir({ '.config/portcullis/rules/a.rules': 'prefix_rule(pattern=["rm"], decision="forbidden")\n' })
  const plain = await exec(replies, ['-s', 'danger-full-access', ...args, 'x'], { cwd, home })
  const events = await exec(replies, [...open, ...args, 'x'], { cwd, home })
  expect([plain.code, events.code], plain.stderr).toEqual([code, code])
  const last = code === 0 ? { type: 'turn.completed' } : { type: 'turn.failed', reason, exit_code: code }
  expect(events.events.at(-1)).toMatchObject(last)
  expect(plain.stderr).toContain(`exit code ${code}`)
})

test('the first event describes what the run uses', async () => {
  const args = [...open, '-c', 'model_reasoning_effort=low', '--max-turns', '3', '--max-cost', '1.5', '--timeout', '60']
  const { events } = await exec([[say('ok')]], [...args, 'x'], { cwd: repository() })
  expect(events[0]).toMatchObject({
    schema_version: 1,
    config: {
      model: 'gpt-5.5',
      sandbox_mode: 'danger-full-access',
      network: 'full',
      reasoning_effort: 'low',
      budget: { max_turns: 3, max_cost_usd: 1.5, timeout_ms: 60_000 },
    },
  })
})

describe('lines of --json', () => {
  const long = '長い文です\n'.repeat(4200)
  const files = Array.from({ length: 900 }, (_, at) => `*** Add File: some/folder/with/a/name/file-${at}.txt\n+x\n`)
  const replies: readonly Reply[] = [
    [think(long), say(long), call('no_such_tool', long), call('exec_command', `{"cmd": "${long}`)],
    [freeform('apply_patch', `*** Begin Patch\n${files.join('')}*** End Patch\n`)],
    [call('exec_command', { cmd: `true ${'y'.repeat(66_000)}` })],
    { status: 400, body: { error: { message: long } } },
  ]

  test('stay below 64 KiB for every kind of item, and name the file with the full text', async () => {
    const ended = await exec(replies, [...open, 'x'], { cwd: repository() })
    expect(ended.code).toBe(6)
    for (const line of ended.stdout.split('\n')) expect(Buffer.byteLength(line)).toBeLessThan(64 * 1024)
    const cut = ended.events.flatMap((event) =>
      event.type === 'item.completed' && event.item.whole_file !== undefined ? [event.item] : [],
    )
    expect(cut.map(({ type }) => type)).toEqual(['reasoning', 'agent_message', 'file_change', 'command_execution'])
    const { item } = JSON.parse(readFileSync(cut[1]?.whole_file ?? '', 'utf8')) as { item: { text: string } }
    expect(item.text).toBe(long)
  })

  test('shorten a long final message, but -o writes it completely', async () => {
    const cwd = repository()
    const { code } = await exec([[say(long)]], [...open, '-o', 'last.txt', 'x'], { cwd })
    expect(code).toBe(0)
    expect(readFileSync(join(cwd, 'last.txt'), 'utf8')).toBe(long)
  })
})

describe('--print-event-schema', () => {
  test('prints a JSON Schema that the events of a run match, and sends no request', async () => {
    const printed = await agent(['exec', '--print-event-schema'], { cwd: tempDir(), home: tempDir() })
    expect(printed.code).toBe(0)
    const validate = compileJsonSchema(JSON.parse(printed.stdout))
    if (typeof validate !== 'function') throw new Error(validate.error)
    const { events } = await exec(
      [
        [think('hm'), call('exec_command', { cmd: 'false' }), call('nope', {})],
        [freeform('apply_patch', '*** Begin Patch\n*** Add File: a\n+a\n*** End Patch\n')],
        { status: 500, headers: { 'retry-after-ms': '1' }, body: {} },
        [say('ok')],
      ],
      [...open, 'x'],
      { cwd: repository() },
    )
    expect(events.length).toBeGreaterThan(8)
    for (const event of events) expect(validate(event)).toEqual([])
    expect(validate({ type: 'turn.completed' })).not.toEqual([])
    expect(validate({ ...events[1], a_field_of_tomorrow: 1 })).toEqual([])
  })
})

test('the program ends with the run, even if a process that it started still holds its pipes', async () => {
  const cwd = repository()
  const { code, stdout } = await exec(
    [[call('exec_command', { cmd: 'sleep 300 & echo started > f; echo hi' })], [say('ok')]],
    ['-s', 'danger-full-access', 'x'],
    { cwd },
  )
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'ok\n' })
  expect(existsSync(join(cwd, 'f'))).toBe(true)
})
