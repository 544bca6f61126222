import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitChangeSet, openTree, undo } from '../../../apply-patch/files/index.ts'
import { changeSet, update } from './change-tools.ts'
import { makeScene } from './tree-tools.ts'

/** A signal that never aborts, but calls `act` when it is asked for the first time after the commit has kept the old files under other names. */
function whenOldIsKept(root: string, files: number, act: () => void): AbortSignal {
  let isDone = false
  const look = (): boolean => {
    if (!isDone && readdirSync(root).filter((name) => name.endsWith('.old')).length === files) {
      isDone = true
      act()
    }
    return false
  }
  return Object.defineProperty(new AbortController().signal, 'aborted', { get: look })
}

const changes: readonly [string, (path: string) => void, string][] = [
  [
    'saves another file under its name, as editors do',
    (path) => {
      writeFileSync(`${path}~`, 'theirs')
      renameSync(`${path}~`, path)
    },
    'theirs',
  ],
  ['writes to it', (path) => writeFileSync(path, 'theirs'), 'theirs'],
  ['makes it executable', (path) => chmodSync(path, 0o755), 'old'],
]

test.each(changes)('a commit changes nothing if somebody %s while it installs its files', async (_, act, text) => {
  const { root, state } = makeScene({ a: 'old', b: 'old' })
  const tree = openTree(root, { unsafePaths: false })
  const signal = whenOldIsKept(root, 2, () => act(join(root, 'b')))
  const set = changeSet(tree, [update(tree, 'a', 'ours'), update(tree, 'b', 'ours')])
  await expect(commitChangeSet(set, { stateDirectory: state, signal })).rejects.toMatchObject({
    code: 'changed',
    tree: 'unchanged',
  })
  expect([readFileSync(join(root, 'a'), 'utf8'), readFileSync(join(root, 'b'), 'utf8')]).toEqual(['old', text])
  expect(readdirSync(root)).toEqual(['a', 'b'])
})

test('a commit changes nothing if somebody removes a file while it installs its files', async () => {
  const { root, state } = makeScene({ a: 'old', b: 'old' })
  const tree = openTree(root, { unsafePaths: false })
  const signal = whenOldIsKept(root, 2, () => rmSync(join(root, 'b')))
  const set = changeSet(tree, [update(tree, 'a', 'ours'), update(tree, 'b', 'ours')])
  await expect(commitChangeSet(set, { stateDirectory: state, signal })).rejects.toMatchObject({ code: 'changed' })
  expect([readdirSync(root), readFileSync(join(root, 'a'), 'utf8')]).toEqual([['a'], 'old'])
})

test('an undo changes nothing if somebody saves a file while it restores the old files', async () => {
  const { root, state } = makeScene({ a: 'old', b: 'old' })
  const tree = openTree(root, { unsafePaths: false })
  const set = changeSet(tree, [update(tree, 'a', 'ours'), update(tree, 'b', 'ours')])
  await commitChangeSet(set, { stateDirectory: state })
  const signal = whenOldIsKept(root, 2, () => {
    writeFileSync(join(root, 'b~'), 'theirs')
    renameSync(join(root, 'b~'), join(root, 'b'))
  })
  await expect(undo(root, { stateDirectory: state, signal })).rejects.toMatchObject({ code: 'changed' })
  expect([readFileSync(join(root, 'a'), 'utf8'), readFileSync(join(root, 'b'), 'utf8')]).toEqual(['ours', 'theirs'])
})
