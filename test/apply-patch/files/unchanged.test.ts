/** Commits that fail after their first write: the tree is exactly as before, down to the times of directories and their inodes. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { commitChangeSet, recover, type CommitOptions } from '../../../apply-patch/files/index.ts'
import type { ChangeSet } from '../../../apply-patch/index.ts'
import { testUnless, whyNotRoot } from '../../support/needs.ts'
import { everything } from './everything.ts'
import { fill, makeScene } from './tree-tools.ts'

const layout = { 'first.txt': 'f', 'dir/in/1': '1', 'dir/in/deep/2': '2', 'dir/3': '3', 'side/4': '4', 'tail.txt': 't' }

/** The mode, inode, modification time and content of each path of a tree. Directories also have their creation time. */
function fingerprint(root: string, below = '.'): Readonly<Record<string, string>> {
  const path = join(root, below)
  const { mode, ino, mtimeNs, birthtimeNs, nlink, ...stats } = lstatSync(path, { bigint: true })
  const facts = `${mode.toString(8)} ${ino} ${mtimeNs} ${nlink}`
  const kind = mode & 0o170000n
  if (kind === 0o120000n) return { [below]: `${facts} ${readlinkSync(path)}` }
  if (kind !== 0o040000n) return { [below]: `${facts} ${stats.size} ${readFileSync(path, 'latin1')}` }
  const inside = readdirSync(path).map((name) => fingerprint(root, join(below, name)))
  return Object.assign({ [below]: `${facts} ${birthtimeNs}` }, ...inside) as Record<string, string>
}

/** Gives all directories of a tree old times. They are whole seconds, because Node can't set every nanosecond. */
function age(root: string): void {
  for (const { name, parentPath } of readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  ))
    utimesSync(join(parentPath, name), 1_500_000_000, 1_500_000_000)
  utimesSync(root, 1_500_000_000, 1_500_000_000)
}

async function failsUnchanged(root: string, set: ChangeSet, options: CommitOptions, failure: object): Promise<void> {
  age(root)
  const before = fingerprint(root)
  await expect(commitChangeSet(set, options)).rejects.toMatchObject({ tree: 'unchanged', ...failure })
  expect(fingerprint(root)).toEqual(before)
}

/** A signal that is aborted as soon as a condition holds. */
function abortedWhen(holds: () => boolean): AbortSignal {
  return {
    get aborted() {
      return holds()
    },
  } as AbortSignal
}

test.each<[when: string, holds: (root: string) => boolean]>([
  ['the new files are written', (root) => readdirSync(root).some((name) => name.endsWith('.new'))],
  ['the old files are moved away', (root) => !existsSync(join(root, 'dir/3'))],
  ['the directory is moved aside', (root) => !existsSync(join(root, 'dir'))],
  ['the first file is installed', (root) => readFileSync(join(root, 'first.txt'), 'utf8') === 'new'],
  [
    'a file is in the place of the directory',
    (root) => existsSync(join(root, 'dir')) && lstatSync(join(root, 'dir')).isFile(),
  ],
])('a commit that is aborted when %s leaves the tree exactly as before', async (_, holds) => {
  const { root, state } = makeScene(layout)
  const signal = abortedWhen(() => holds(root))
  await failsUnchanged(root, everything(root), { stateDirectory: state, signal }, { code: 'aborted' })
})

test('after a crash, recovery leaves the tree exactly as before', async () => {
  const { root, state } = makeScene(layout)
  age(root)
  const before = fingerprint(root)
  const script = `
    import { lstatSync } from 'node:fs'
    import { commitChangeSet } from ${JSON.stringify(new URL('../../../apply-patch/files/index.ts', import.meta.url).pathname)}
    import { everything } from ${JSON.stringify(new URL('everything.ts', import.meta.url).pathname)}
    const root = ${JSON.stringify(root)}
    const signal = { get aborted() { if (lstatSync(root + '/dir', { throwIfNoEntry: false })?.isDirectory() !== true) process.kill(process.pid, 'SIGKILL'); return false } }
    await commitChangeSet(everything(root), { signal, stateDirectory: ${JSON.stringify(state)} })
  `
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL')
  expect(fingerprint(root)).not.toEqual(before)
  expect(await recover({ root, stateDirectory: state })).toMatchObject([{ outcome: 'rolled-back' }])
  expect(fingerprint(root)).toEqual(before)
})

const asRoot = testUnless(whyNotRoot('mounts file systems and makes files immutable') ?? whyNoMount())

function whyNoMount(): string | undefined {
  const probe = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
  return probe.status === 0 ? undefined : 'no file system can be mounted here'
}

function mount(path: string, mebibytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path])
  onTestFinished(() => void spawnSync('umount', ['--lazy', path]))
}

asRoot('a commit for which the disk has no space leaves the tree exactly as before', async () => {
  const { root, state } = makeScene()
  mount(root, 1)
  fill(root, layout)
  const set = everything(root, 'x'.repeat(2 ** 21))
  await failsUnchanged(root, set, { stateDirectory: state }, { facts: { errno: 'ENOSPC' } })
})

asRoot('a commit that can’t move a file out of a mount leaves the tree exactly as before', async () => {
  const { root, state } = makeScene({ 'dir/in/deep': '/' })
  mount(join(root, 'dir/in'), 1)
  fill(root, layout)
  await failsUnchanged(root, everything(root), { stateDirectory: state }, { facts: { errno: 'EXDEV' } })
})

asRoot('a commit that meets an immutable file leaves the tree exactly as before', async ({ skip }) => {
  const { root, state } = makeScene(layout)
  const tail = join(root, 'tail.txt')
  if (spawnSync('chattr', ['+i', tail]).status !== 0) skip('this file system has no immutable files')
  onTestFinished(() => void spawnSync('chattr', ['-i', tail]))
  await failsUnchanged(root, everything(root), { stateDirectory: state }, { facts: { errno: 'EPERM' } })
})
