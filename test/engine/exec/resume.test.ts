import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access']
const threadOf = ({ events }: Exec): string => {
  const [first] = events
  return first?.type === 'thread.started' ? first.thread_id : ''
}
const input = ({ requests }: Exec, index: number): string => JSON.stringify(requests[index]?.body)
const folder = (home: string): string => join(home, '.local/state/portcullis/sessions')

async function firstRun(home: string, cwd: string, replies: readonly Reply[] = [[say('first answer')]]): Promise<Exec> {
  return exec(replies, [...open, '--json', 'first task'], { cwd, home })
}

describe('agent exec resume', () => {
  test('continues with the history, under the same id', async () => {
    const home = tempDir()
    const cwd = repository()
    const first = await firstRun(home, cwd)
    const second = await exec([[say('second answer')]], [...open, '--json', 'resume', threadOf(first), 'second task'], {
      cwd,
      home,
    })
    expect(second.code).toBe(0)
    expect(threadOf(second)).toBe(threadOf(first))
    const sent = input(second, 0)
    const order = ['first task', 'first answer', 'second task'].map((text) => sent.indexOf(text))
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  test('--last means the newest session of this workspace, and flags may follow it', async () => {
    const home = tempDir()
    const cwd = repository()
    const first = await firstRun(home, cwd)
    await firstRun(home, repository())
    const last = await exec([[say('ok')]], ['resume', '--last', '--json', ...open, 'more'], { cwd, home })
    expect(threadOf(last)).toBe(threadOf(first))
  })

  test('the model of the command line overrides that of the session', async () => {
    const recording = (text: string): string =>
      `{"portcullis_replay":1}\n${JSON.stringify({ events: [{ type: 'message', text }] })}\n`
    const cwd = tempDir({ a: recording('from a'), b: recording('from b') })
    const options = { cwd, home: tempDir() }
    const start = ['exec', ...open, '--skip-git-repo-check']
    await agent([...start, '-m', 'replay:a', 'x'], options)
    const { code, stdout } = await agent([...start, '-c', 'model=replay:b', 'resume', '--last', 'y'], options)
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'from b\n' })
  })

  test('settings before and after it count, and the later one wins', async () => {
    const home = tempDir()
    const cwd = repository()
    await firstRun(home, cwd)
    const effort = (level: string): readonly string[] => ['-c', `model_reasoning_effort=${level}`]
    const args = [...open, ...effort('high'), 'resume', '--last', ...effort('low'), 'more']
    const { requests } = await exec([[say('ok')]], args, { cwd, home })
    expect(requests[0]?.body).toMatchObject({ reasoning: { effort: 'low' } })
  })

  test('a call that was cut off gets a result that says so, and is never run again', async () => {
    const home = tempDir()
    const cwd = repository()
    const first = await exec(
      [[call('exec_command', { cmd: 'echo ran >> log; sleep 60' })]],
      [...open, '--json', 'first task'],
      {
        cwd,
        home,
        onStart: (child) => {
          const timer = setInterval(() => {
            if (!existsSync(join(cwd, 'log'))) return
            clearInterval(timer)
            child.kill('SIGKILL')
          }, 20)
        },
      },
    )
    expect(first.signal).toBe('SIGKILL')
    const [id = ''] = readdirSync(folder(home))
    const second = await exec([[say('ok')]], [...open, 'resume', id, 'go on'], { cwd, home })
    expect(second.code).toBe(0)
    expect(input(second, 0)).toContain('interrupted before this call had a result')
    expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('ran\n')
  })

  test('a session that another process runs is refused, with the process', async () => {
    const home = tempDir()
    const cwd = repository()
    const refused: Promise<Exec>[] = []
    const first = await exec(['silence'], [...open, '--json', 'first task'], {
      cwd,
      home,
      onStart: (child) =>
        child.stdout?.once('data', () => {
          const second = exec([[say('never')]], [...open, 'resume', '--last', 'more'], { cwd, home })
          refused.push(second.finally(() => child.kill('SIGTERM')))
        }),
    })
    expect(first.code).toBe(143)
    const [second] = await Promise.all(refused)
    expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(/process \d+ is running this session/) })
    const third = await exec([[say('ok')]], [...open, 'resume', '--last', 'more'], { cwd, home })
    expect(third.code).toBe(0)
  })

  test('a torn last line is repaired', async () => {
    const home = tempDir()
    const cwd = repository()
    const first = await firstRun(home, cwd)
    const rollout = join(folder(home), threadOf(first), 'rollout.jsonl')
    appendFileSync(rollout, '{"type":"item","item":{"ty')
    const second = await exec([[say('ok')]], [...open, 'resume', threadOf(first), 'more'], { cwd, home })
    expect(second.code).toBe(0)
    for (const line of readFileSync(rollout, 'utf8').trimEnd().split('\n')) JSON.parse(line)
  })

  test.each([
    [['resume'], 'name a session, or give --last'],
    [['resume', 'no-such-id', 'x'], "There is no session 'no-such-id'"],
    [['resume', '--last', 'x'], 'There is no earlier session in'],
  ])('%j is refused', async (args, message) => {
    const refused = await exec([[say('never')]], [...open, ...args], { cwd: repository() })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(message)
    expect(refused.requests).toHaveLength(0)
  })

  test('a rollout that is broken in the middle is named by file and line', async () => {
    const home = tempDir()
    const cwd = repository()
    const first = await firstRun(home, cwd)
    appendFileSync(join(folder(home), threadOf(first), 'rollout.jsonl'), 'nonsense\n')
    const refused = await exec([[say('never')]], [...open, 'resume', threadOf(first), 'x'], { cwd, home })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/rollout\.jsonl:\d+: not a record of a session/)
  })
})

test('agent exec fork begins a new session with the same history, and leaves the old one unchanged', async () => {
  const home = tempDir()
  const cwd = repository()
  const first = await firstRun(home, cwd)
  const rollout = join(folder(home), threadOf(first), 'rollout.jsonl')
  const before = readFileSync(rollout, 'utf8')
  const forked = await exec([[say('ok')]], [...open, '--json', 'fork', threadOf(first), 'another way'], { cwd, home })
  expect(threadOf(forked)).not.toBe(threadOf(first))
  expect(input(forked, 0)).toContain('first answer')
  expect(readFileSync(rollout, 'utf8')).toBe(before)
})

/** Everything in the state folder: each file with its modification time and a hash of its content, and each folder with its modification time. */
function stateOf(home: string): readonly string[] {
  const state = join(home, '.local/state')
  if (!existsSync(state)) return []
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).toSorted()
  return files.map((name) => {
    const path = join(state, name)
    const stats = statSync(path)
    const content = stats.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'
    return `${name} ${stats.mtimeMs} ${content}`
  })
}

const oneCommand: readonly Reply[] = [[call('exec_command', { cmd: 'true' })], [say('ok')]]

test('--ephemeral stores nothing', async () => {
  const home = tempDir()
  const { code } = await exec(oneCommand, [...open, '--ephemeral', 'x'], { cwd: repository(), home })
  expect(code).toBe(0)
  expect(stateOf(home)).toEqual([])
})

test.skipIf(needsBubblewrap())('--ephemeral keeps what decides about a run where its commands do not get', async () => {
  const cwd = repository({ 'tmp/.keep': '' })
  const clear = call('exec_command', { cmd: 'ls -A tmp; rm -rf tmp' })
  const ran = await exec([[clear], [say('ok')]], ['--json', '--ephemeral', 'x'], {
    cwd,
    env: { TMPDIR: join(cwd, 'tmp') },
  })
  expect(ran.code).toBe(0)
  const [first] = ran.events
  expect(first?.type === 'thread.started' && first.config.session_dir).not.toContain(cwd)
  const done = ran.events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
  expect(done[0]).toMatchObject({ type: 'command_execution', aggregated_output: '.keep\n', status: 'completed' })
})

test('--ephemeral continues a session, and leaves it unchanged', async () => {
  const home = tempDir()
  const cwd = repository()
  const first = await firstRun(home, cwd)
  const before = stateOf(home)
  expect(before).not.toEqual([])
  const args = [...open, '--ephemeral', 'resume', threadOf(first), 'more']
  const second = await exec(oneCommand, args, { cwd, home })
  expect(second.code).toBe(0)
  expect(input(second, 0)).toContain('first answer')
  expect(stateOf(home)).toEqual(before)
})
