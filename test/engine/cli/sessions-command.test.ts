import { cpSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { agent, eventsOf, type Ended } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { signalsAt } from '../../support/signals-at.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { needsBubblewrap } from '../../support/needs.ts'

let home = ''
let cwd = ''

const sessions = (...args: readonly string[]): Promise<Ended> => agent(['sessions', ...args], { cwd, home })
const ids = (): readonly string[] => readdirSync(join(home, '.local/state/portcullis/sessions'))

beforeEach(async () => {
  home = tempDir()
  cwd = repository()
  await exec(
    [[call('exec_command', { cmd: 'echo hi' })], [say('said \u001b[31mit')]],
    ['-s', 'danger-full-access', 'the task'],
    { cwd, home },
  )
})

test('list shows each session with its time, its end, its directory and its first prompt', async () => {
  const [id = ''] = ids()
  const { code, stdout } = await sessions('list')
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^${id}  \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d  done  ${cwd}  the task\n$`))
  expect(JSON.parse((await sessions('list', '--json')).stdout)).toMatchObject({ id, end: 'done', workspace: cwd })
})

test('a session that cannot be read is listed as such', async () => {
  const [id = ''] = ids()
  writeFileSync(join(home, '.local/state/portcullis/sessions', id, 'rollout.jsonl'), 'nonsense\n')
  expect((await sessions('list')).stdout).toContain('unreadable')
})

test('show prints what was said and done, without terminal control sequences', async () => {
  const { code, stdout } = await sessions('show', (ids()[0] ?? '').slice(0, 13))
  expect(code).toBe(0)
  for (const text of [
    'user: the task',
    '> exec_command {"cmd":"echo hi"}',
    '< Process exited with code 0',
    'assistant: said it',
  ]) {
    expect(stdout).toContain(text)
  }
})

test('prune removes only older sessions', async () => {
  expect((await sessions('prune', '--days', '30')).stdout).toBe('0 sessions removed\n')
  const rollout = join(home, '.local/state/portcullis/sessions', ids()[0] ?? '', 'rollout.jsonl')
  const old = Date.now() / 1000 - 40 * 86_400
  utimesSync(rollout, old, old)
  expect((await sessions('prune', '--days', '30')).stdout).toBe('1 session removed\n')
  expect(ids()).toEqual([])
})

test('after a signal, prune first finishes removing the current session, and then ends', async () => {
  const [id = ''] = ids()
  const old = Date.now() / 1000 - 40 * 86_400
  cpSync(sessionOf(id), sessionOf(`${id.slice(0, -6)}000000`), { recursive: true })
  for (const each of ids()) utimesSync(join(sessionOf(each), 'rollout.jsonl'), old, old)
  const removed = { call: 'unlinkSync', path: '/sessions/' }
  const env = signalsAt(['SIGINT', { ...removed, nth: 1 }], ['SIGINT', { ...removed, nth: 2 }])
  const ended = await agent(['sessions', 'prune', '--days', '30'], { cwd, home, env })
  expect([ended.code, ended.stdout]).toEqual([130, '1 session removed\n'])
  expect(ended.stderr).toBe(
    'agent: Interrupted. The program exits as soon as the session that is being removed is gone.\n',
  )
  expect(ids().map((each) => readdirSync(sessionOf(each)).includes('rollout.jsonl'))).toEqual([true])
})

test('show of a missing session is a usage error', async () => {
  expect(await sessions('show', 'nothing')).toMatchObject({ code: 2, stdout: '' })
})

test.skipIf(needsBubblewrap())(
  'the end of an id is enough, as is its beginning, for show, resume and fork',
  async () => {
    const [id = ''] = ids()
    // An id from the same hour begins with the same characters.
    const sibling = `${id.slice(0, -6)}${id.endsWith('000000') ? '111111' : '000000'}`
    cpSync(sessionOf(id), sessionOf(sibling), { recursive: true })

    const shown = await sessions('show', id.slice(-6))
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(shown.stdout).toContain(`${id}\n`)

    for (const how of ['resume', 'fork']) {
      const run = await exec([[say('again')]], [how, '--json', id.slice(-6).toUpperCase(), 'go on'], { cwd, home })
      expect(run).toMatchObject({ code: 0 })
      const [first] = eventsOf(run.stdout)
      expect(first?.type === 'thread.started' && first.thread_id === id).toBe(how === 'resume')
    }
  },
)

test('an ambiguous id is an error that lists the sessions', async () => {
  const [id = ''] = ids()
  const siblings = ['a', 'b'].map((letter) => `${id.slice(0, -6)}${letter}0beef`)
  for (const sibling of siblings) cpSync(sessionOf(id), sessionOf(sibling), { recursive: true })
  for (const part of ['0beef', siblings[0]?.slice(0, -6) ?? '']) {
    const { code, stdout, stderr } = await sessions('show', part)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    for (const sibling of siblings) expect(stderr).toContain(`\n  ${sibling}\n`)
  }
  expect((await sessions('show', siblings[1]?.slice(-6) ?? '')).code).toBe(0)
})

test('a part of an id that is too short is refused', async () => {
  const { code, stderr } = await sessions('show', (ids()[0] ?? '').slice(-3))
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('too short') })
})

const sessionOf = (id: string): string => join(home, '.local/state/portcullis/sessions', id)
