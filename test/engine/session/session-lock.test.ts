import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isProcessAlive, startOf } from '../../../apply-patch/index.ts'
import { isLocked, lockSession } from '../../../engine/session/session-lock.ts'
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

onLinux('a session that another process uses is refused, with what that process does', () => {
  const directory = tempDir()
  const parent = { pid: process.ppid, host: hostname(), doing: "landing this session's changes" }
  const claim = `running-${process.ppid}.${startOf(process.ppid)}.${namespaceOf()}.${bootOf()}.nonce`
  writeFileSync(join(directory, claim), JSON.stringify(parent))
  expect(isLocked(directory)).toBe(true)
  const why = `process ${process.ppid} is landing this session's changes. Wait until it ends`
  expect(() => lockSession(directory, 'undo')).toThrow(`${directory}: ${why}.`)
  expect(() => lockSession(directory, 'run')).toThrow(`${directory}: ${why}, or fork the session.`)
  lockSession(directory, 'look', process.ppid).release()
  expect(readdirSync(directory)).toEqual([claim])
})

function namespaceOf(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
}

function bootOf(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
}
