/** Journals: what happens if the disk of the state folder is full, and how the space that they take is limited and given back. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { applyPatch, undo } from '../../../apply-patch/index.ts'
import { testUnless, whyNotRoot } from '../../support/needs.ts'
import { fill, makeScene } from './tree-tools.ts'

const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
const update = '*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** End Patch\n'

/** Runs a script in a tree whose first state folder, and perhaps its second, is on a full disk. */
function onFullDisk(root: string, env: Readonly<Record<string, string>>, script: string) {
  const fillUp = Object.keys(env)
    .filter((name) => name !== 'TMPDIR')
    .map(
      (name) => `mount -t tmpfs -o size=16k none "$${name}" && { cat /dev/zero > "$${name}/fill" 2>/dev/null; true; }`,
    )
  const run = `patch() { ${process.execPath} ${program} "$@"; }`
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['-m', 'sh', '-c', [...fillUp, `{ ${run}; ${script}; }`].join(' && ')],
    {
      cwd: root,
      input: update,
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    },
  )
  return { status, stdout, stderr }
}

const onTmpfs = testUnless(whyNotRoot('can mount a file system'))

onTmpfs('if the first state folder is full, the journal is in the next, and an undo finds it there', () => {
  const { base, root, state } = makeScene({ f: 'one\n' })
  const home = join(base, 'home')
  mkdirSync(home)
  const script = `HOME=${home} patch && cat f && HOME=${home} patch undo`
  const run = onFullDisk(root, { XDG_STATE_HOME: state }, script)
  expect(run).toEqual({
    status: 0,
    stdout: 'Success. Updated the following files:\nM f\n1\nSuccess. Took back the following files:\nM f\n',
    stderr: '',
  })
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('one\n')
  expect(readdirSync(join(home, '.local/state/portcullis/apply-patch'), { recursive: true })).toHaveLength(1)
})

onTmpfs('if no folder has space, nothing is changed, and the error names the folders and not the file', () => {
  const { base, root, state, outside } = makeScene({ f: 'one\n' })
  const home = join(base, 'home')
  mkdirSync(home)
  const script = `mount --bind ${state} /var/tmp && patch`
  const run = onFullDisk(
    root,
    { XDG_STATE_HOME: state, HOME: home, TMPDIR: outside },
    `mount --bind ${state} ${outside} && ${script}`,
  )
  expect(run.status).toBe(1)
  expect(run.stderr).toMatch(/^No folder can hold the journal; .*apply-patch prune/)
  expect(run.stderr).toContain(`tried ${state}/portcullis/apply-patch/`)
  expect(run.stderr).toMatch(/no space left on device \(ENOSPC\)[^]*Nothing was changed\.\n$/)
  expect(run.stderr).not.toContain('Failed to write file')
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('one\n')
})

test('the journals of all trees together are limited: those of the tree that was not patched for the longest time go first', async () => {
  const { base, state } = makeScene()
  const names = ['a', 'b', 'c']
  for (const name of names) {
    fill(join(base, name), { f: 'one\n' })
    await applyPatch(update, { root: join(base, name), stateDirectory: state })
    const [folder = ''] = readdirSync(state).filter((one) => one.startsWith(`${name}-`))
    const [journal = ''] = readdirSync(join(state, folder))
    // The file is sparse: it counts as large, but takes no space.
    truncateSync(join(state, folder, journal), 600 * 1024 * 1024)
  }
  fill(join(base, 'd'), { f: 'one\n' })
  await applyPatch(update, { root: join(base, 'd'), stateDirectory: state })
  expect(readdirSync(state).map((name) => name[0])).toEqual(['c', 'd'])
  await undo(join(base, 'd'), { stateDirectory: state })
  expect(readFileSync(join(base, 'd/f'), 'utf8')).toBe('one\n')
})

onTmpfs(
  'apply-patch prune forgets the patches of this tree, and with --all those of all trees, but not what a crash left',
  () => {
    const { base, state } = makeScene()
    // The state folders in /var/tmp belong to all programs of this user, so the program gets its own.
    const apart = ['-m', 'sh', '-c', 'mount -t tmpfs none /var/tmp && exec "$@"', 'sh']
    const run = (name: string, args: readonly string[], input = '') => {
      const env = { PATH: process.env['PATH'], XDG_STATE_HOME: state, HOME: base, TMPDIR: base }
      return spawnSync('unshare', [...apart, process.execPath, program, ...args], {
        cwd: join(base, name),
        input,
        env,
        encoding: 'utf8',
      })
    }
    const stored = () => readdirSync(join(state, 'portcullis/apply-patch')).map((name) => name[0])
    for (const name of ['a', 'b', 'c']) {
      fill(join(base, name), { f: 'one\n' })
      expect(run(name, [], update).status).toBe(0)
    }
    expect(run('a', ['prune']).stdout).toBe('Removed the journals of 1 patch of 1 tree (1 KiB).\n')
    expect(run('a', ['prune']).stdout).toBe('Nothing to remove.\n')
    expect(stored()).toEqual(['b', 'c'])
    const [folder = ''] = readdirSync(join(state, 'portcullis/apply-patch'))
    const [journal = ''] = readdirSync(join(state, 'portcullis/apply-patch', folder))
    fill(join(state, 'portcullis/apply-patch', folder), {
      'failed-1.1.1.1.x': readFileSync(join(state, 'portcullis/apply-patch', folder, journal), 'latin1'),
    })
    expect(JSON.parse(run('a', ['prune', '--all', '--json']).stdout)).toEqual({
      ok: true,
      trees: 1,
      patches: 1,
      bytes: expect.any(Number) as number,
    })
    expect(stored()).toEqual(['b'])
    expect(existsSync(join(state, 'portcullis/apply-patch', folder, 'failed-1.1.1.1.x'))).toBe(true)
    expect(run('a', ['prune', '--strict']).status).toBe(2)
    expect(run('a', ['undo']).stderr).toContain('There is no applied patch to revert')
  },
)
