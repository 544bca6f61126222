import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, readlinkSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { holderOf, lockFolder } from '../../../engine/core/folder-lock.ts'
import { tempDir } from '../../support/temp-dir.ts'

const onLinux = test.skipIf(process.platform !== 'linux')
const module = new URL('../../../engine/core/folder-lock.ts', import.meta.url).href

/** Starts processes that try to lock each of some folders at the same moments, and hold what they got until all are done. Returns who got which folder. */
async function race(folders: readonly string[], count: number): Promise<readonly (readonly number[])[]> {
  const text = `
    import { lockFolder } from ${JSON.stringify(module)}
    process.stdout.write('ready\\n')
    process.stdin.once('data', (at) => {
      const won = []
      for (const [round, folder] of ${JSON.stringify(folders)}.entries()) {
        while (Date.now() < Number(at) + round * 60);
        won.push('lock' in lockFolder(folder, 'test', 'testing'))
      }
      process.stdout.write(JSON.stringify(won) + '\\n')
    })
    setInterval(() => undefined, 1_000)`
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')))
  const next = (): Promise<readonly string[]> =>
    Promise.all(
      children.map(
        ({ stdout }) => new Promise<string>((resolve) => stdout.once('data', (data) => resolve(String(data)))),
      ),
    )
  await next()
  const told = next()
  for (const child of children) child.stdin.write(`${Date.now() + 100}`)
  const won = (await told).map((text) => JSON.parse(text) as readonly boolean[])
  return folders.map((_, round) => won.flatMap((each, at) => (each[round] === true ? [at] : [])))
}

function bootOf(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
}

function namespaceOf(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
}

const dead = JSON.stringify({ pid: 999_999_999, host: hostname(), doing: 'testing' })

onLinux.for([
  ['nobody has locked', undefined],
  ['a process that has died had locked', dead],
  ['a process that died before it knew whether it held the lock had claimed', ''],
  ['a process that died while it wrote its name had locked', dead.slice(0, 9)],
] as const)('of many processes that lock a folder at the same time that %s, one gets the lock', async ([, content]) => {
  const folders = Array.from({ length: 15 }, () => tempDir())
  if (content !== undefined) {
    for (const folder of folders)
      writeFileSync(join(folder, `test-999999999.1.${namespaceOf()}.${bootOf()}.nonce`), content)
  }
  const winners = await race(folders, 6)
  expect(winners.map((each) => each.length)).toEqual(folders.map(() => 1))
  // What dead processes had left is gone; what remains is the winner's.
  expect(folders.map((folder) => readdirSync(folder).length)).toEqual(folders.map(() => 1))
})

test('the lock of a process that was killed is free for the next one', async () => {
  const folder = tempDir()
  const text = `
    import { lockFolder } from ${JSON.stringify(module)}
    lockFolder(${JSON.stringify(folder)}, 'test', 'testing')
    process.stdout.write('locked')
    setInterval(() => undefined, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  expect(holderOf(folder, 'test')).toEqual({ pid: child.pid, host: hostname(), doing: 'testing' })
  expect(lockFolder(folder, 'test', 'trying')).toEqual({
    holder: { pid: child.pid, host: hostname(), doing: 'testing' },
  })
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  expect(holderOf(folder, 'test')).toBe(undefined)
  const taken = lockFolder(folder, 'test', 'trying')
  if (!('lock' in taken)) throw new Error('the lock is not free')
  expect(holderOf(folder, 'test')).toEqual({ pid: process.pid, host: hostname(), doing: 'trying' })
  taken.lock.release()
  expect([holderOf(folder, 'test'), readdirSync(folder)]).toEqual([undefined, []])
})

onLinux('the lock of a process on another machine is valid until it has not been renewed for two minutes', () => {
  const folder = tempDir()
  const taken = lockFolder(folder, 'test', 'testing')
  if (!('lock' in taken)) throw new Error('the lock is not free')
  const [own = ''] = readdirSync(folder)
  const foreign = join(folder, own.replace(bootOf(), '00000000'))
  writeFileSync(join(folder, own), JSON.stringify({ pid: 1, host: 'elsewhere', doing: 'testing' }))
  renameSync(join(folder, own), foreign)
  expect(taken.lock.isHeld()).toBe(false)
  expect(lockFolder(folder, 'test', 'trying')).toEqual({ holder: { pid: 1, host: 'elsewhere', doing: 'testing' } })
  utimesSync(foreign, 0, 0)
  expect(lockFolder(folder, 'test', 'trying')).toHaveProperty('lock')
  expect(readdirSync(folder)).toHaveLength(1)
})

onLinux('the lock of a process that ran before this machine was booted is void', () => {
  const folder = tempDir({
    'test-1.1.1.00000000.nonce': JSON.stringify({ pid: 1, host: hostname(), doing: 'testing' }),
  })
  expect(holderOf(folder, 'test')).toBe(undefined)
  expect(lockFolder(folder, 'test', 'trying')).toHaveProperty('lock')
})
