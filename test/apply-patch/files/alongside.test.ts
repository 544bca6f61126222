import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  commitChangeSet,
  openTree,
  PathError,
  recover,
  undo,
  type Alongside,
} from '../../../apply-patch/files/index.ts'
import { lockEntries } from '../../../apply-patch/files/alongside.ts'
import { add, changeSet, remove, update } from './change-tools.ts'
import { makeScene, snapshot, type Layout } from './tree-tools.ts'

const layout: Layout = {
  'a.txt': 'old\n',
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.git/index': 'index\n',
  '.git/refs/heads/main': '1\n',
}

/** Creates a tree, a change set for it, and changes to files in its git directory that are committed together with the change set. */
function scene(given: Layout = layout) {
  const { root, state } = makeScene(given)
  const [tree, all] = [openTree(root, { unsafePaths: false }), openTree(root, { unsafePaths: true })]
  const key = (name: string): string => join(tree.root, '.git', name)
  const head = key('HEAD')
  const alongside: Alongside = {
    within: [join(tree.root, '.git')],
    changes: [
      update(all, '.git/index', 'new index\n'),
      update(all, '.git/refs/heads/main', '2\n'),
      add(all, '.git/refs/heads/run/name', '2\n'),
    ],
    unchanged: [{ key: head, before: all.read({ path: head, key: head }) }],
    locks: [key('index.lock'), key('refs/heads/main.lock'), key('HEAD.lock')],
  }
  const set = changeSet(tree, [update(tree, 'a.txt', 'new\n')])
  return { root, state, all, alongside, key, set, old: snapshot(root) }
}

const bytesOf = (root: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(snapshot(root)).map(([name, facts]) => [name, facts.split(' ').slice(3).join(' ')]))

describe('a file that changes along with a change set', () => {
  test('is written where no patch may write, and leaves no lock', async () => {
    const { root, state, set, alongside, old } = scene()
    await commitChangeSet(set, { stateDirectory: state, alongside })
    expect(bytesOf(root)).toMatchObject({
      'a.txt': 'new\n',
      '.git/index': 'new index\n',
      '.git/refs/heads/main': '2\n',
    })
    const made = ['.git/refs/heads/run', '.git/refs/heads/run/name']
    expect(Object.keys(snapshot(root))).toEqual([...Object.keys(old), ...made].toSorted())
  })

  test('is left alone when the change set is undone, unless it must be restored too', async () => {
    const { root, state, set, all, alongside, old } = scene()
    await commitChangeSet(set, { stateDirectory: state, alongside })
    await undo(root, { stateDirectory: state })
    expect(bytesOf(root)).toMatchObject({ 'a.txt': 'old\n', '.git/refs/heads/main': '2\n' })
    await commitChangeSet(changeSet(openTree(root, { unsafePaths: false }), [update(all, 'a.txt', 'new\n')]), {
      stateDirectory: state,
    })
    const back = [
      update(all, '.git/index', 'index\n'),
      update(all, '.git/refs/heads/main', '1\n'),
      remove(all, '.git/refs/heads/run/name'),
    ]
    await undo(root, { stateDirectory: state, alongside: { ...alongside, changes: back } })
    const { '.git/refs/heads/run': empty, ...rest } = snapshot(root)
    expect([rest, empty]).toEqual([old, expect.stringContaining('directory')])
  })

  test('is not written if somebody else holds the lock, and nothing else is either', async () => {
    const { root, state, set, alongside, key } = scene({ ...layout, '.git/index.lock': '' })
    const before = snapshot(root)
    await expect(commitChangeSet(set, { stateDirectory: state, alongside })).rejects.toMatchObject({
      code: 'changed',
      tree: 'unchanged',
      facts: { differences: [{ key: key('index.lock'), how: 'appeared' }] },
    })
    expect(snapshot(root)).toEqual(before)
  })

  test.each([
    ['HEAD', 'ref: refs/heads/other\n'],
    ['index', 'theirs\n'],
    ['refs/heads/main', '3\n'],
    ['refs/heads/run', 'in the way\n'],
  ])('is not done, and nothing is, where somebody else wrote %s meanwhile', async (name, text) => {
    const { root, state, set, alongside, key } = scene()
    writeFileSync(key(name), text)
    const before = snapshot(root)
    await expect(commitChangeSet(set, { stateDirectory: state, alongside })).rejects.toMatchObject({
      tree: 'unchanged',
    })
    expect(snapshot(root)).toEqual(before)
  })

  test('can only be in the stated directory', async () => {
    const { root, state, set, alongside, old } = scene()
    const within = [join(root, '.git/refs')]
    await expect(commitChangeSet(set, { stateDirectory: state, alongside: { ...alongside, within } })).rejects.toThrow(
      PathError,
    )
    expect(snapshot(root)).toEqual(old)
  })

  test('can be the only change, which then can’t be undone', async () => {
    const { root, state, set, alongside } = scene()
    const { canUndo } = await commitChangeSet({ ...set, changes: [] }, { stateDirectory: state, alongside })
    expect([canUndo, bytesOf(root)['.git/refs/heads/main']]).toEqual([false, '2\n'])
  })

  test('can be outside of the tree', async () => {
    const { root, state, set } = scene()
    const other = makeScene({ 'refs/main': '1\n' }).root
    const tree = openTree(other, { unsafePaths: true })
    const changes = [update(tree, 'refs/main', '2\n')]
    const locks = [join(tree.root, 'refs/main.lock')]
    const alongside = { within: [tree.root], changes, unchanged: [], locks }
    await commitChangeSet(set, { stateDirectory: state, alongside })
    expect([readFileSync(join(other, 'refs/main'), 'utf8'), existsSync(join(other, 'refs/main.lock'))]).toEqual([
      '2\n',
      false,
    ])
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n')
    expect(await recover({ root, stateDirectory: state })).toEqual([])
  })
})

test('each commit recognizes its own lock by the content', () => {
  const [one, other] = ['first', 'other'].map((nonce) => lockEntries(['/r/.git/index.lock'], nonce)[0])
  expect(one?.target).toEqual({ directory: '/r/.git', name: 'index.lock' })
  expect(one?.fingerprint.crc).not.toBe(other?.fingerprint.crc)
})
