import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isProcessAlive, startOf } from '../../../engine/session/session-lock.ts'

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
