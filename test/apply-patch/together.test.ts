import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { applyPatch, commit, parsePatch, planPatch } from '../../apply-patch/index.ts'
import { lockTree } from '../../apply-patch/files/tree-lock.ts'
import { makeScene } from './files/tree-tools.ts'

const program = new URL('../../dist/bin/apply-patch.js', import.meta.url).pathname
const replace = (line: string, by: string): string =>
  `*** Begin Patch\n*** Update File: f.txt\n@@\n-${line}\n+${by}\n*** End Patch\n`

/** Starts the program in a tree. */
function start(root: string, state: string, args: readonly string[], input = '') {
  const env = { PATH: process.env['PATH'], XDG_STATE_HOME: state }
  const child = spawn(process.execPath, [program, ...args], { cwd: root, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.end(input)
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[status], stdout, stderr]) => ({ status: status as unknown, stdout, stderr }),
  )
  return { child, ended }
}

test('eight programs at once change eight lines of one file, and all eight changes land', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const { root, state } = makeScene({ 'f.txt': names.map((name) => `line ${name}\n`).join('\n') })
  const runs = await Promise.all(
    names.map((name) => start(root, state, [], replace(`line ${name}`, `done ${name}`)).ended),
  )
  expect(runs.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
    names.map(() => ({ status: 0, stderr: expect.not.stringContaining('Files changed') as string })),
  )
  expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe(names.map((name) => `done ${name}\n`).join('\n'))
})

test('programs that each change two files at once all land', async () => {
  const { root, state } = makeScene({ 'f.txt': 'a\nb\nc\nd\n', other: 'x\n' })
  const edit = (line: string): string =>
    `*** Begin Patch\n*** Update File: f.txt\n@@\n-${line}\n+${line}!\n*** Update File: other\n@@\n x\n+${line}\n*** End Patch\n`
  const runs = await Promise.all(['a', 'b', 'c', 'd'].map((line) => start(root, state, [], edit(line)).ended))
  expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0])
  expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe('a!\nb!\nc!\nd!\n')
  expect(readFileSync(join(root, 'other'), 'utf8').split('\n').toSorted().join('')).toBe('abcdx')
})

test('a patch whose lines another run has taken away is refused in the words of a patch that does not fit', async () => {
  const { root, state } = makeScene({ 'f.txt': 'one\ntwo\n' })
  const { patch } = parsePatch(replace('one', '1'))
  const changeSet = await planPatch(patch, { root })
  await applyPatch(replace('one', 'first'), { root, stateDirectory: state })
  const options = { stateDirectory: state, planAgain: () => planPatch(patch, { root }) }
  await expect(commit(changeSet, options)).rejects.toMatchObject({ code: 'not-applied' })
  expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe('first\ntwo\n')
  // Nothing is left behind that would make the next run wait or recover.
  await applyPatch(replace('two', '2'), { root, stateDirectory: state })
  expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe('first\n2\n')
})

test('a plan that was approved is not made again: if a file has changed, the commit is refused', async () => {
  const { root, state } = makeScene({ 'f.txt': 'one\ntwo\n' })
  const changeSet = await planPatch(parsePatch(replace('one', '1')).patch, { root })
  writeFileSync(join(root, 'f.txt'), 'one\ntwo\nthree\n')
  await expect(commit(changeSet, { stateDirectory: state })).rejects.toMatchObject({ code: 'changed' })
})

test.each([
  { args: [], input: replace('one', '1'), says: 'Success. Updated' },
  { args: ['undo'], input: '', says: 'Success. Took back' },
  { args: ['recover'], input: '', says: 'Nothing to recover' },
])(
  'apply-patch $args says for which run it waits, and goes on when that run has ended',
  async ({ args, input, says }) => {
    const { root, state } = makeScene({ 'f.txt': 'zero\none\n' })
    const stateDirectory = join(state, 'portcullis/apply-patch')
    mkdirSync(stateDirectory, { recursive: true })
    for (const folder of [state, join(state, 'portcullis')]) chmodSync(folder, 0o700)
    await applyPatch(replace('zero', '0'), { root, stateDirectory })
    const lock = await lockTree(root, { stateDirectory })
    const { child, ended } = start(root, state, args, input)
    const [told] = (await once(child.stderr, 'data')) as [Buffer]
    expect(told.toString()).toBe(
      `apply-patch: waiting for another run (process ${process.pid}), which is changing ${root}\n`,
    )
    expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe('0\none\n')
    lock.journal.discard()
    lock.release()
    expect(await ended).toMatchObject({ status: 0, stdout: expect.stringContaining(says) as string })
    expect(existsSync(join(root, 'f.txt'))).toBe(true)
  },
)
