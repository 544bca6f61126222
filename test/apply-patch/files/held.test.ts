/** Directories in which a user may create files but not remove them: sticky ones of another user, and append-only ones. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { commitChangeSet, openTree, recover } from '../../../apply-patch/files/index.ts'
import { testUnless, whyNoOtherUser, whyNotRoot } from '../../support/needs.ts'
import { fingerprint, makeCase, runProgram } from '../case-tools.ts'
import { changeSet, update } from './change-tools.ts'
import { makeScene } from './tree-tools.ts'

const nobody = 65534
const other = '*** Begin Patch\n*** Add File: other\n+o\n*** End Patch\n'

function whyNotAppendOnly(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'append-only-'))
  const set = spawnSync('chattr', ['+a', directory]).status === 0
  spawnSync('chattr', ['-a', directory])
  rmSync(directory, { recursive: true })
  return set ? undefined : `no directory in ${tmpdir()} can be made append-only`
}

/** Makes a directory append-only for the rest of the test. */
function appendOnly(directory: string): void {
  onTestFinished(() => void spawnSync('chattr', ['-a', directory]))
  expect(spawnSync('chattr', ['+a', directory]).status).toBe(0)
}

/** The names of the temporary files that a commit has left in a directory. */
function temporaryIn(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => name.startsWith('.apply-patch-'))
}

const asRoot = testUnless(whyNoOtherUser())
const whereAppendOnly = testUnless(whyNotRoot('makes directories append-only') ?? whyNotAppendOnly())

asRoot.each([
  ['changes', '*** Begin Patch\n*** Add File: new\n+n\n*** Update File: shared/r\n@@\n-r\n+y\n*** End Patch\n'],
  ['removes', '*** Begin Patch\n*** Add File: new\n+n\n*** Delete File: shared/r\n*** End Patch\n'],
  ['moves', '*** Begin Patch\n*** Update File: shared/r\n*** Move to: r\n@@\n-r\n+y\n*** End Patch\n'],
])('a patch that %s another user’s file in a sticky directory changes nothing, and later ones work', (_, patch) => {
  const { cwd } = makeCase({ files: { own: 'o\n' }, run_as_uid: nobody })
  const shared = join(cwd, 'shared')
  mkdirSync(shared)
  writeFileSync(join(shared, 'r'), 'r\n')
  chmodSync(join(shared, 'r'), 0o666)
  chmodSync(shared, 0o1777)
  const before = fingerprint(cwd)
  const { status, stderr } = runProgram(cwd, patch, { uid: nobody })
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/EPERM[^]*its directory has the sticky bit[^]*Nothing was changed\.\n/),
  ])
  expect(fingerprint(cwd)).toEqual(before)
  expect(runProgram(cwd, '', { args: ['recover'], uid: nobody }).stdout).toBe('Nothing to recover.\n')
  expect(runProgram(cwd, other, { uid: nobody }).status).toBe(0)
})

asRoot('in a sticky directory of another user, a user’s own files can be changed', () => {
  const { cwd } = makeCase({ files: {}, run_as_uid: nobody })
  writeFileSync(join(cwd, 'own'), 'r\n')
  chownSync(join(cwd, 'own'), nobody, nobody)
  chownSync(cwd, 0, 0)
  chmodSync(cwd, 0o1777)
  const patch = '*** Begin Patch\n*** Update File: own\n@@\n-r\n+y\n*** End Patch\n'
  expect(runProgram(cwd, patch, { uid: nobody })).toMatchObject({ status: 0 })
  expect(readFileSync(join(cwd, 'own'), 'utf8')).toBe('y\n')
})

whereAppendOnly('a patch that changes a file in an append-only directory changes nothing, and leaves nothing', () => {
  const { cwd } = makeCase({ files: { 'log/l': 'l\n', 'a/a': 'a\n' } })
  appendOnly(join(cwd, 'log'))
  const before = fingerprint(cwd)
  const patch =
    '*** Begin Patch\n*** Update File: a/a\n@@\n-a\n+b\n*** Add File: log/n\n+n\n*** Update File: log/l\n@@\n-l\n+y\n*** End Patch\n'
  const { status, stderr } = runProgram(cwd, patch)
  expect([status, stderr]).toEqual([1, expect.stringMatching(/EPERM[^]*append-only[^]*Nothing was changed\.\n/)])
  expect(fingerprint(cwd)).toEqual(before)
  expect(runProgram(cwd, other).status).toBe(0)
})

whereAppendOnly(
  'a patch that only adds to an append-only directory says which temporary file it had to leave there',
  () => {
    const { cwd } = makeCase({ files: { 'log/l': 'l\n', 'a/a': 'a\n' } })
    const log = join(cwd, 'log')
    appendOnly(log)
    const patch = '*** Begin Patch\n*** Update File: a/a\n@@\n-a\n+b\n*** Add File: log/n\n+n\n*** End Patch\n'
    const { status, stderr } = runProgram(cwd, patch)
    const [left = '', ...others] = temporaryIn(log)
    expect([status, stderr]).toEqual([1, expect.stringContaining(`could not be removed again: ${join(log, left)}\n`)])
    expect([others, readdirSync(log).length, readFileSync(join(cwd, 'a/a'), 'utf8')]).toEqual([[], 2, 'a\n'])
    expect(runProgram(cwd, '', { args: ['recover'] }).stdout).toBe('Nothing to recover.\n')
    expect(runProgram(cwd, other).status).toBe(0)
  },
)

/** Updates `log/l` in a process that is killed when both of its temporary files exist. */
function killed(root: string, state: string): void {
  const script = `
    import { readdirSync } from 'node:fs'
    import { commitChangeSet, openTree } from ${JSON.stringify(new URL('../../../apply-patch/files/index.ts', import.meta.url).pathname)}
    import { changeSet, update } from ${JSON.stringify(new URL('change-tools.ts', import.meta.url).pathname)}
    const tree = openTree(${JSON.stringify(root)}, { unsafePaths: false })
    const temporary = () => readdirSync(${JSON.stringify(join(root, 'log'))}).filter((name) => name.startsWith('.apply-patch-'))
    const signal = { get aborted() { if (temporary().length === 2) process.kill(process.pid, 'SIGKILL'); return false } }
    await commitChangeSet(changeSet(tree, [update(tree, 'log/l', 'new')]), { signal, stateDirectory: ${JSON.stringify(state)} })
  `
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL')
}

whereAppendOnly(
  'recovery doesn’t get stuck on temporary files that can’t be removed while their target is intact',
  async () => {
    const { root, state } = makeScene({ 'log/l': 'old', b: 'b' })
    const log = join(root, 'log')
    const options = { stateDirectory: state }
    killed(root, state)
    expect(temporaryIn(log)).toHaveLength(2)
    appendOnly(log)
    const [recovered, ...others] = await recover({ root, ...options })
    expect([recovered, others]).toEqual([expect.objectContaining({ outcome: 'rolled-back' }), []])
    expect(recovered?.leftOver?.map((path) => basename(path))).toEqual([
      expect.stringMatching(/\.old$/),
      expect.stringMatching(/\.new$/),
    ])
    expect(readFileSync(join(log, 'l'), 'utf8')).toBe('old')
    expect(await recover({ root, ...options })).toEqual([])
    const tree = openTree(root, { unsafePaths: false })
    await commitChangeSet(changeSet(tree, [update(tree, 'b', 'new')]), options)
  },
)
