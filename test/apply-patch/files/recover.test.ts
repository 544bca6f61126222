import { expect, test } from 'vitest'
import { recover } from '../../../apply-patch/files/index.ts'
import { makeScene, snapshot } from './tree-tools.ts'

test('recovering a tree without a crash does nothing', async () => {
  const { root, state } = makeScene({ a: 'a' })
  const before = snapshot(root)
  expect(await recover({ root, stateDirectory: state })).toEqual([])
  expect(snapshot(root)).toEqual(before)
  expect(snapshot(state)).toEqual({})
})
