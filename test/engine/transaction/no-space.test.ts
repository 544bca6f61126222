import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { testUnless, whyNoBubblewrap, whyNotRoot } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec } from '../../support/workspace.ts'
import { fingerprint } from './fingerprint.ts'

const testWhereMounted = testUnless(whyNoBubblewrap() ?? whyNotRoot('mounts a small file system') ?? whyNoMount())

function whyNoMount(): string | undefined {
  const probe = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
  return probe.status === 0 ? undefined : 'no file system can be mounted here'
}

/** Mounts an in-memory file system of this many MiB. */
function smallDisk(mebibytes: number): { readonly path: string; readonly grow: (mebibytes: number) => void } {
  const path = join(tempDir(), 'disk')
  mkdirSync(path)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path])
  onTestFinished(() => void spawnSync('umount', ['--lazy', path]))
  const grow = (to: number): void => void execFileSync('mount', ['-o', `remount,size=${to}m`, path])
  return { path, grow }
}

function makeRepository(cwd: string): void {
  writeFileSync(join(cwd, 'a.txt'), 'a\n')
  writeFileSync(join(cwd, 'gone.txt'), 'gone\n')
  execFileSync('git', ['init', '-q', cwd])
}

/** A command that changes, adds and removes a file. The added file has this many KiB of incompressible data. */
const change = (kibibytes: number) =>
  `dd if=/dev/urandom of=new bs=1024 count=${kibibytes} status=none; echo b > a.txt; rm gone.txt`

async function run(cwd: string, state: string, args: readonly string[], command: string) {
  const home = tempDir()
  const env = { XDG_STATE_HOME: state }
  const replies = [[call('exec_command', { cmd: command })], [say('done')]]
  const ended = await exec((index) => replies[index] ?? [say('done')], ['--json', ...args, 'x'], { cwd, home, env })
  const last = ended.events.at(-1)
  const message = last?.type === 'turn.failed' ? last.error.message : undefined
  return { ...ended, message, apply: () => agent(['apply', '--last'], { cwd, home, env }) }
}

testWhereMounted.for(['copy', 'overlay'] as const)(
  'a run (%s) that has no room for its changes lands nothing, and lands them when there is room',
  async (strategy) => {
    const [cwd, disk] = [tempDir(), smallDisk(4)]
    makeRepository(cwd)
    const before = fingerprint(cwd)
    const { code, message, apply } = await run(cwd, disk.path, [`--view=${strategy}`], change(2200))
    expect(message).toMatch(/^Nothing was landed, and the tree is as it was: no space is left in /)
    expect(message).toMatch(/Free some disk space, then land them with agent apply \S+\.$/)
    expect(code).toBe(1)
    expect(fingerprint(cwd)).toEqual(before)

    disk.grow(40)
    const applied = await apply()
    expect(applied.stderr).toMatch(/^The newest run here: \S+\n$/)
    expect(applied.stdout).toContain('3 files landed')
    expect(readFileSync(join(cwd, 'new')).length).toBe(2200 * 1024)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\n')
    expect(existsSync(join(cwd, 'gone.txt'))).toBe(false)
  },
)

testWhereMounted('a landing that does not fit on the tree’s disk leaves the tree unchanged', async () => {
  const [disk, state] = [smallDisk(2), tempDir()]
  makeRepository(disk.path)
  // A whole second, because Node can't set every nanosecond.
  utimesSync(disk.path, 1_500_000_000, 1_500_000_000)
  const before = fingerprint(disk.path)
  const { code, message, apply } = await run(disk.path, state, ['--view=copy'], change(3000))
  expect(message).toMatch(/^The run's changes could not be landed\. .*ENOSPC/s)
  expect(message).toContain('The tree is unchanged, and the patch is in ')
  expect(code).toBe(1)
  expect(fingerprint(disk.path)).toEqual(before)

  disk.grow(20)
  const applied = await apply()
  expect(applied.stdout).toContain('3 files landed')
  expect(readFileSync(join(disk.path, 'new')).length).toBe(3000 * 1024)
})
