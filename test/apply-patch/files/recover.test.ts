import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitChangeSet, isApplied, openTree, recover, undo } from '../../../apply-patch/files/index.ts'
import { changeSet, update } from './change-tools.ts'
import { makeScene, snapshot } from './tree-tools.ts'

test('recovering a tree without a crash does nothing', async () => {
  const { root, state } = makeScene({ a: 'a' })
  const before = snapshot(root)
  expect(await recover({ root, stateDirectory: state })).toEqual([])
  expect(snapshot(root)).toEqual(before)
  expect(snapshot(state)).toEqual({})
})

test('a commit that crashed when it was complete can be undone after it was recovered', async () => {
  const { root, state } = makeScene({ a: '0' })
  const patch = async (text: string) => {
    const tree = openTree(root, { unsafePaths: false })
    let begun = ''
    const begins = (id: string): void => void (begun = id)
    const { id } = await commitChangeSet(changeSet(tree, [update(tree, 'a', text)]), { stateDirectory: state, begins })
    expect(begun).toBe(id)
    return id
  }
  const [first, second] = [await patch('1'), await patch('2')]
  // This is the state that a run leaves if it is killed before it renames its journal.
  const [folder = ''] = readdirSync(state)
  const names = readdirSync(join(state, folder)).toSorted()
  renameSync(join(state, folder, names[1] ?? ''), join(state, folder, `failed-1.1.1.1.${second}`))
  expect(await recover({ root, stateDirectory: state })).toMatchObject([{ outcome: 'completed' }])
  expect(readdirSync(join(state, folder)).toSorted()).toEqual(names)
  const applied = (): Promise<readonly boolean[]> =>
    Promise.all([first, second].map((id) => isApplied(root, id, state)))
  expect(await applied()).toEqual([true, true])
  await undo(root, { stateDirectory: state })
  expect([snapshot(root)['a'], await applied()]).toEqual([expect.stringMatching(/ 1$/), [true, false]])
  await undo(root, { stateDirectory: state })
  expect([snapshot(root)['a'], await applied()]).toEqual([expect.stringMatching(/ 0$/), [false, false]])
})
