import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { commitChangeSet, openTree, undo } from '../../../apply-patch/files/index.ts'
import { needsOtherUser } from '../../support/needs.ts'
import { changeSet, update } from './change-tools.ts'
import { fill, makeScene, snapshot } from './tree-tools.ts'

const isRoot = process.geteuid?.() === 0

// Some of these tests fall back on a folder in `/var/tmp`, which is removed afterwards unless it existed before.
const shared = ['/var/tmp/portcullis-0', '/var/tmp/portcullis-65534'].filter((folder) => !existsSync(folder))
afterAll(() => shared.forEach((folder) => rmSync(folder, { recursive: true, force: true })))
afterEach(() => vi.unstubAllEnvs())

async function patch(root: string, text: string): Promise<void> {
  const tree = openTree(root, { unsafePaths: false })
  await commitChangeSet(changeSet(tree, [update(tree, 'f', text)]))
}

/** The paths of all journals below a folder. */
function journals(folder: string): readonly string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /(?:active|applied|failed)-/.test(name),
      )
    : []
}

describe('journals are kept', () => {
  test('in $XDG_STATE_HOME, private to the user, and nowhere in the tree', async () => {
    const { base, root } = makeScene({ f: '0' })
    vi.stubEnv('XDG_STATE_HOME', join(base, 'xdg/state'))
    await patch(root, '1')
    const [journal = ''] = journals(join(base, 'xdg/state'))
    expect(journal).toMatch(/^portcullis\/apply-patch\/tree-[0-9a-f]{8}\/applied-00000001-/)
    expect(snapshot(join(base, 'xdg/state'))['portcullis/apply-patch']).toMatch(/^directory 700 /)
    expect(Object.keys(snapshot(root))).toEqual(['f'])
  })

  test('in the home folder otherwise', async () => {
    const { base, root } = makeScene({ f: '0' })
    vi.stubEnv('XDG_STATE_HOME', '')
    vi.stubEnv('HOME', base)
    await patch(root, '1')
    expect(journals(join(base, '.local/state/portcullis/apply-patch'))).toHaveLength(1)
  })

  test('outside a tree that is the home folder itself', async () => {
    const { base, root } = makeScene({ f: '0' })
    vi.stubEnv('XDG_STATE_HOME', '')
    vi.stubEnv('HOME', root)
    vi.stubEnv('TMPDIR', join(base, 'outside'))
    await patch(root, '1')
    await undo(root)
    expect(Object.keys(snapshot(root))).toEqual(['f'])
  })

  test.runIf(isRoot)('not in a home folder that belongs to somebody else', async () => {
    const { base, root } = makeScene({ f: '0' })
    const home = join(base, 'home')
    mkdirSync(home)
    chownSync(home, 4321, 4321)
    vi.stubEnv('XDG_STATE_HOME', '')
    vi.stubEnv('HOME', home)
    await patch(root, '1')
    expect(snapshot(home)).toEqual({})
    await undo(root)
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('0')
  })

  test('not in a folder that others may write to, where they could plant one for us to carry out', async () => {
    const { root, state } = makeScene({ f: '0' })
    chmodSync(state, 0o777)
    const tree = openTree(root, { unsafePaths: false })
    const set = changeSet(tree, [update(tree, 'f', '1')])
    await commitChangeSet(set, { stateDirectory: state })
    const [folder = ''] = readdirSync(state)
    chmodSync(join(state, folder), 0o777)
    const next = openTree(root, { unsafePaths: false })
    const again = changeSet(next, [update(next, 'f', '2')])
    await expect(commitChangeSet(again, { stateDirectory: state })).rejects.toMatchObject({
      code: 'no-state-directory',
      tree: 'unchanged',
      facts: { tried: [{ path: join(state, folder), reason: expect.stringContaining('other users can write to ') }] },
    })
  })

  test('for the last twenty patches of a tree, which can be undone one after the other', async () => {
    const { root, state } = makeScene({ f: '0' })
    vi.stubEnv('XDG_STATE_HOME', state)
    for (let count = 1; count <= 25; count += 1) await patch(root, String(count))
    expect(journals(state)).toHaveLength(20)
    for (let count = 24; count >= 5; count -= 1) {
      await undo(root)
      expect(readFileSync(join(root, 'f'), 'utf8')).toBe(String(count))
    }
    await expect(undo(root)).rejects.toMatchObject({ code: 'nothing-to-undo' })
    expect(journals(state)).toEqual([])
  })
})

test('journals of the least recently patched trees are removed once there are a hundred others', async () => {
  const { base, state } = makeScene()
  vi.stubEnv('XDG_STATE_HOME', state)
  for (let count = 1; count <= 103; count += 1) {
    const root = join(base, `tree-${count}`)
    fill(root, { f: '0' })
    await patch(root, '1')
  }
  expect(readdirSync(join(state, 'portcullis/apply-patch'))).toHaveLength(100)
  await undo(join(base, 'tree-103'))
  await expect(undo(join(base, 'tree-1'))).rejects.toMatchObject({ code: 'nothing-to-undo' })
})

describe.skipIf(needsOtherUser())('an ordinary user', () => {
  /** Runs a commit as the user `nobody`, but by default with root's home directory, as can happen in a program that root started. */
  function asNobody(root: string, state: string, changes: string, home = '/root') {
    const library = new URL('../../../apply-patch/files/index.ts', import.meta.url).pathname
    const tools = new URL('change-tools.ts', import.meta.url).pathname
    const program = `
      import { commitChangeSet, openTree, recover } from ${JSON.stringify(library)}
      import { add, changeSet, remove, update } from ${JSON.stringify(tools)}
      process.setgroups([]); process.setgid(65534); process.setuid(65534)
      const tree = openTree(${JSON.stringify(root)}, { unsafePaths: false })
      try {
        await commitChangeSet(changeSet(tree, [${changes}]))
        console.log('committed')
      } catch (error) {
        console.log(error.code, error.tree, error.facts?.errno ?? '', error.facts?.path ?? '')
      }`
    const file = join(state, 'program.ts')
    writeFileSync(file, program)
    const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: join(state, 'tmp') }
    mkdirSync(join(state, 'tmp'), { recursive: true })
    chmodSync(join(state, 'tmp'), 0o1777)
    for (const folder of [join(root, '..'), state]) chmodSync(folder, 0o755)
    const { stdout, stderr } = spawnSync(process.execPath, [file], { env, encoding: 'utf8' })
    return stdout.trim() + stderr
  }

  test('without a home of its own still gets a journal', () => {
    const { root, state } = makeScene({ f: '0' })
    chownSync(root, 65534, 65534)
    chownSync(join(root, 'f'), 65534, 65534)
    expect(asNobody(root, state, `update(tree, 'f', '1')`)).toBe('committed')
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('1')
  })

  test('keeps its journal in a home that is everybody’s, as in an image that any user may run, unless somebody else began one there', () => {
    const { root, state } = makeScene({ f: '0' })
    for (const path of [root, join(root, 'f')]) chownSync(path, 65534, 65534)
    const home = join(state, 'home')
    const journals = join(home, '.local/state/portcullis/apply-patch')
    mkdirSync(home)
    chmodSync(home, 0o1777)
    expect(asNobody(root, state, `update(tree, 'f', '1')`, home)).toBe('committed')
    expect(readdirSync(journals)).toHaveLength(1)
    for (const [owner, mode] of [
      [4321, 0o700],
      [65534, 0o777],
    ] as const) {
      rmSync(join(home, '.local'), { recursive: true })
      mkdirSync(join(home, '.local'))
      chownSync(join(home, '.local'), owner, 65534)
      chmodSync(join(home, '.local'), mode)
      expect(asNobody(root, state, `update(tree, 'f', '${mode}')`, home)).toBe('committed')
      expect(existsSync(journals)).toBe(false)
    }
  })

  test('cannot replace a file that is read-only, even if the directory would allow it', () => {
    const { root, state } = makeScene({ f: '0', g: { mode: 0o444, text: 'g' } })
    for (const path of [root, join(root, 'f'), join(root, 'g')]) chownSync(path, 65534, 65534)
    const before = snapshot(root)
    expect(asNobody(root, state, `update(tree, 'f', '1'), update(tree, 'g', 'G')`)).toBe('read-only unchanged EACCES g')
    expect(snapshot(root)).toEqual(before)
  })

  test('cannot change a read-only directory, and then changes nothing else either', () => {
    const { root, state } = makeScene({ f: '0', 'd/x': 'x' })
    for (const path of [root, join(root, 'f'), join(root, 'd'), join(root, 'd/x')]) chownSync(path, 65534, 65534)
    chmodSync(join(root, 'd'), 0o555)
    const before = snapshot(root)
    expect(asNobody(root, state, `update(tree, 'f', '1'), remove(tree, 'd/x')`)).toBe('system unchanged EACCES d/x')
    expect(asNobody(root, state, `update(tree, 'f', '1'), update(tree, 'd/x', '1')`)).toBe(
      'system unchanged EACCES d/x',
    )
    expect(asNobody(root, state, `update(tree, 'f', '1'), add(tree, 'd/new/y', '1')`)).toMatch(
      /^system unchanged EACCES/,
    )
    expect(snapshot(root)).toEqual(before)
  })

  test("keeps a shared file's group if possible, and drops the set-user-id bit if the owner is lost", () => {
    const { root, state } = makeScene({ f: { mode: 0o6775, text: '0' } })
    chownSync(root, 65534, 65534)
    chownSync(join(root, 'f'), 0, 65534)
    chmodSync(join(root, 'f'), 0o6775)
    expect(asNobody(root, state, `update(tree, 'f', '1')`)).toBe('committed')
    expect(snapshot(root)).toEqual({ f: 'file 775 65534:65534 1' })
  })
})

test.runIf(isRoot)('root keeps the owner and the set-user-id bit of a file it updates', async () => {
  const { root, state } = makeScene({ f: { mode: 0o4755, text: '0' } })
  chownSync(join(root, 'f'), 4321, 4322)
  chmodSync(join(root, 'f'), 0o4755)
  vi.stubEnv('XDG_STATE_HOME', state)
  await patch(root, '1')
  expect(snapshot(root)).toEqual({ f: 'file 4755 4321:4322 1' })
})
