import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { agent, type Ended } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

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

test('list names each session with when, how it ended, where, and its first prompt', async () => {
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

test('show tells what was said and done, and lets nothing draw on the terminal', async () => {
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

test('prune removes what is older, and only that', async () => {
  expect((await sessions('prune', '--days', '30')).stdout).toBe('0 sessions removed\n')
  const rollout = join(home, '.local/state/portcullis/sessions', ids()[0] ?? '', 'rollout.jsonl')
  const old = Date.now() / 1000 - 40 * 86_400
  utimesSync(rollout, old, old)
  expect((await sessions('prune', '--days', '30')).stdout).toBe('1 session removed\n')
  expect(ids()).toEqual([])
})

test('show of a session that is not there is a usage error', async () => {
  expect(await sessions('show', 'nothing')).toMatchObject({ code: 2, stdout: '' })
})
