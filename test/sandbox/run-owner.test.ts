import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { expect, test } from 'vitest'
import { isOwnerGone, ownerName, parsePs } from '../../sandbox/run-owner.ts'
import { eventually } from './helpers.ts'

test('a living owner is not reported as ended, but an ended one is', async () => {
  expect(isOwnerGone(`${ownerName(process.pid)}-more`)).toBe(false)
  const child = spawn('sleep', ['600'])
  const name = ownerName(child.pid ?? 0)
  expect(isOwnerGone(name)).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isOwnerGone(name)).toBe(true)
})

test('an owner counts as ended even if its parent has not collected it', async () => {
  // The shell is replaced by a program that never waits for its child, and then the child is killed.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 601'])
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  const name = ownerName(pid)
  await eventually(() => spawnSync('ps', ['-o', 'args=', '-p', `${parent.pid}`]).stdout.includes('sleep 601'))
  process.kill(pid, 'SIGKILL')
  await eventually(() => isOwnerGone(name))
  parent.kill()
})

test('another process with an ended owner’s pid is not that owner; a name from another namespace proves nothing', () => {
  const [namespace, pid] = ownerName(process.pid).split('-')
  expect(isOwnerGone(`${namespace}-${pid}-1`)).toBe(true)
  expect(isOwnerGone(`1${namespace}-${pid}-1`)).toBe(false)
  expect(isOwnerGone('something else')).toBe(false)
})

test.each([
  ['Ss   Sat Nov 21 06:55:03 2026\n', 0, '1795244103'],
  ['S+   Sat Nov  7 06:55:03 2026    \n', 0, '1794034503'],
  ['Z    Sat Nov 21 06:55:03 2026\n', 0, 'ended'],
  ['', 1, 'ended'],
  ['', null, undefined],
  ['Ss   ?\n', 0, undefined],
])('without procfs, ps saying %j is understood', (stdout, status, start) => {
  expect(parsePs(status, stdout)).toBe(start)
})

test('the real output of ps is understood', () => {
  const env = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'] ?? '' }
  const { status, stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', `${process.pid}`], { encoding: 'utf8', env })
  const start = Number(parsePs(status, stdout))
  // `ps` computes a start time from the time of the boot, so the result may differ a little from the clock.
  expect(Math.abs(start - (Date.now() / 1000 - process.uptime()))).toBeLessThan(600)
})
