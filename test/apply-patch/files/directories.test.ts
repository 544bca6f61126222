import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommitError, commitChangeSet, openTree, undo } from '../../../apply-patch/files/index.ts'
import type { DirectoryChange } from '../../../apply-patch/index.ts'
import { add, changeSet, remove, replaceDirectory } from './change-tools.ts'
import { makeScene, snapshot, type Layout } from './tree-tools.ts'

function scene(layout: Layout) {
  const { root, state } = makeScene(layout)
  const tree = openTree(root, { unsafePaths: false })
  const commit = (directories: readonly DirectoryChange[], changes = changeSet(tree, []).changes) =>
    commitChangeSet({ ...changeSet(tree, changes), directories }, { stateDirectory: state })
  return { root, state, tree, commit, at: (name: string) => join(root, name) }
}

test('directories are made, removed and given modes with the files of a change set, and an undo reverts all of it', async () => {
  const { root, state, tree, commit, at } = scene({
    'gone/deep/a.txt': 'a',
    'gone/empty': '/',
    mode: '/',
    'kept.txt': 'k',
  })
  chmodSync(at('gone/deep'), 0o700)
  const before = snapshot(root)
  await commit(
    [
      { type: 'remove', key: at('gone/deep') },
      { type: 'remove', key: at('gone/empty') },
      { type: 'remove', key: at('gone') },
      { type: 'make', key: at('new/empty'), mode: 0o711 },
      { type: 'make', key: at('closed'), mode: 0o555 },
      { type: 'mode', key: at('mode'), before: 0o755, mode: 0o1777 },
    ],
    [remove(tree, 'gone/deep/a.txt'), add(tree, 'closed/in.txt', 'in')],
  )
  const after = Object.fromEntries(
    Object.entries(snapshot(root)).map(([path, facts]) => [path, facts.replace(/ \d+:\d+/, '')]),
  )
  expect(after).toEqual({
    closed: 'directory 555',
    'closed/in.txt': 'file 644 in',
    'kept.txt': 'file 644 k',
    mode: 'directory 1777',
    new: 'directory 755',
    'new/empty': 'directory 711',
  })
  chmodSync(at('closed'), 0o755)
  await undo(root, { stateDirectory: state })
  expect(snapshot(root)).toEqual(before)
})

test('a file replaces a directory, and an undo restores the directory', async () => {
  const { root, state, tree, commit, at } = scene({ 'x/a.txt': 'a', 'x/y/b.txt': 'b' })
  const before = snapshot(root)
  await commit(
    [
      { type: 'remove', key: at('x') },
      { type: 'remove', key: at('x/y') },
    ],
    [remove(tree, 'x/a.txt'), remove(tree, 'x/y/b.txt'), replaceDirectory(tree, 'x', 'file')],
  )
  expect(Object.keys(snapshot(root))).toEqual(['x'])
  await undo(root, { stateDirectory: state })
  expect(snapshot(root)).toEqual(before)
})

test('a directory stays if somebody has put something into it meanwhile', async () => {
  const { root, tree, commit, at } = scene({ 'x/a.txt': 'a' })
  const changes = [remove(tree, 'x/a.txt')]
  writeFileSync(at('x/theirs.txt'), 't')
  await commit([{ type: 'remove', key: at('x') }], changes)
  expect(readdirSync(join(root, 'x'))).toEqual(['theirs.txt'])
})

test('a directory in the place of a new file that is not empty makes the whole commit fail', async () => {
  const { root, tree, commit, at } = scene({ 'x/a.txt': 'a' })
  const changes = [remove(tree, 'x/a.txt'), replaceDirectory(tree, 'x', 'file')]
  writeFileSync(at('x/theirs.txt'), 't')
  const before = snapshot(root)
  await expect(commit([{ type: 'remove', key: at('x') }], changes)).rejects.toMatchObject({ code: 'changed' })
  expect(snapshot(root)).toEqual(before)
})

test('a mode that somebody else set meanwhile, and a directory that no longer is one, are refused', async () => {
  const { root, commit, at } = scene({ x: '/', y: '/' })
  chmodSync(at('x'), 0o700)
  rmSync(at('y'), { recursive: true })
  writeFileSync(at('y'), '')
  const before = snapshot(root)
  await expect(commit([{ type: 'mode', key: at('x'), before: 0o755, mode: 0o711 }])).rejects.toThrow(CommitError)
  await expect(commit([{ type: 'remove', key: at('y') }])).rejects.toMatchObject({ code: 'changed' })
  await expect(commit([{ type: 'make', key: '/elsewhere/x' }])).rejects.toMatchObject({ code: 'outside-root' })
  await expect(commit([{ type: 'make', key: at('.git/hooks') }])).rejects.toMatchObject({ code: 'protected' })
  expect(snapshot(root)).toEqual(before)
})

test('an undo of one patch is refused if another was applied after it', async () => {
  const { root, state, tree, commit } = scene({})
  const first = await commit([], [add(tree, 'a', 'a')])
  const second = await commit([], [add(tree, 'b', 'b')])
  await expect(undo(root, { stateDirectory: state, only: first.id })).rejects.toMatchObject({ code: 'nothing-to-undo' })
  await undo(root, { stateDirectory: state, only: second.id })
  await undo(root, { stateDirectory: state, only: first.id })
  expect(readdirSync(root)).toEqual([])
})

test('a directory that already existed does not count as made by the commit', async () => {
  const { root, state, commit, at } = scene({})
  mkdirSync(at('x'), { mode: 0o700 })
  await commit([{ type: 'make', key: at('x'), mode: 0o755 }])
  await undo(root, { stateDirectory: state })
  expect(snapshot(root)['x']).toContain('directory 700')
})
