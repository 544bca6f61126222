import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isLocked, isProcessAlive, lockSession, startOf } from '../../../engine/session/session-lock.ts'
import { tempDir } from '../../support/temp-dir.ts'

const onLinux = test.skipIf(process.platform !== 'linux')

test('a process counts as alive only with its own start time', () => {
  expect(isProcessAlive({ pid: process.pid, started: startOf(process.pid) })).toBe(true)
  expect(isProcessAlive({ pid: process.pid, started: '1' })).toBe(process.platform !== 'linux')
})

onLinux('a process that died and is never collected by its parent is not alive', async () => {
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void parent.kill('SIGKILL'))
  const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (text) => resolve(Number(text))))
  const stat = (of: number): string => readFileSync(`/proc/${of}/stat`, 'latin1')
  // Once the parent has become `sleep`, nobody waits for the child, so the child stays a zombie when it ends.
  while (!stat(parent.pid ?? 0).includes('(sleep)')) await sleep(20)
  const started = startOf(pid)
  expect(isProcessAlive({ pid, started })).toBe(true)
  process.kill(pid, 'SIGKILL')
  while (!/\) Z /.test(stat(pid))) await sleep(20)
  expect(isProcessAlive({ pid, started })).toBe(false)
  expect(isProcessAlive({ pid })).toBe(false)
})

/** Starts processes that try to lock a folder at the same moment, and hold the lock until they are killed. Returns what each of them says. */
async function race(directory: string, count: number): Promise<readonly string[]> {
  const module = new URL('../../../engine/session/session-lock.ts', import.meta.url).href
  const at = Date.now() + 1_000
  const text = `
    import { lockSession } from ${JSON.stringify(module)}
    while (Date.now() < ${at});
    try {
      lockSession(${JSON.stringify(directory)}, 'land')
      console.log('locked')
    } catch (error) {
      console.log(error.message.replace(/.*: process \\d+ is/, 'refused:'))
    }
    setInterval(() => undefined, 1_000)`
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const said = children.map(
    (child) => new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data)))),
  )
  const all = await Promise.all(said)
  for (const child of children) child.kill('SIGKILL')
  return all
}

test.each([
  ['nobody has locked', undefined],
  [
    'a process that has died had locked',
    JSON.stringify({ pid: 999_999_999, started: '1', doing: 'running this session' }),
  ],
  ['an empty lock file locks', ''],
])('if several processes try at the same time to lock a folder that %s, only one gets the lock', async (_, before) => {
  const directory = tempDir()
  if (before !== undefined) writeFileSync(join(directory, 'running'), before)
  const said = await race(directory, 6)
  expect(said.toSorted()).toEqual([
    'locked\n',
    ...Array.from({ length: 5 }, () =>
      expect.stringMatching(/^refused: landing this session's changes\. Wait until it ends\.\n$/),
    ),
  ])
})

test('a lock is free for the next process if a process was killed while it took over the lock', () => {
  const dead = JSON.stringify({ pid: 999_999_999, started: '1' })
  const directory = tempDir({ running: dead, 'running-after-999999999-1': dead, 'running-after-999999999-1-next': '' })
  const lock = lockSession(directory, 'run')
  expect(isLocked(directory)).toBe(true)
  lock.release()
  expect([isLocked(directory), readdirSync(directory)]).toEqual([false, []])
})
