import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { applyPatch, CommitError, PatchError } from '../../apply-patch/index.ts'
import { tempDir } from '../support/temp-dir.ts'

const update = (from: string, to: string): string =>
  `*** Begin Patch\n*** Update File: a.txt\n@@\n-${from}\n+${to}\n*** End Patch\n`

test('a patch is parsed, planned and committed in one call', async () => {
  const [root, stateDirectory] = [tempDir({ 'a.txt': 'one\n' }), tempDir()]
  const { summary, warnings, canUndo } = await applyPatch(update('one', 'two'), { root, stateDirectory })
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('two\n')
  expect({ summary, warnings, canUndo }).toEqual({
    summary: [{ kind: 'M', path: 'a.txt' }],
    warnings: [],
    canUndo: true,
  })
})

test('each repair of the patch is a warning', async () => {
  const options = { root: tempDir({ 'a.txt': 'one\n' }), stateDirectory: tempDir() }
  const { warnings } = await applyPatch(`Here it is:\n${update('one', 'two')}`, options)
  expect(warnings.map(({ code }) => code)).toEqual(['repaired'])
})

test.each([
  ['is no patch', 'nonsense', 'malformed'],
  ['doesn’t fit', update('three', 'four'), 'not-applied'],
])('one that %s changes nothing, and throws every failure', async (_, text, code) => {
  const root = tempDir({ 'a.txt': 'one\n' })
  const failing = applyPatch(text, { root, stateDirectory: tempDir() })
  await expect(failing).rejects.toMatchObject({ constructor: PatchError, code })
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
})

test('strict mode applies to both parsing and planning', async () => {
  const options = { root: tempDir({ 'a.txt': '  one\n' }), stateDirectory: tempDir(), mode: 'strict' } as const
  await expect(applyPatch(`Here it is:\n${update('  one', 'two')}`, options)).rejects.toMatchObject({
    code: 'malformed',
  })
  await expect(applyPatch(update('one', 'two'), options)).rejects.toMatchObject({ code: 'not-applied' })
})

test('an aborted signal leaves the tree as it is', async () => {
  const root = tempDir({ 'a.txt': 'one\n' })
  const failing = applyPatch(update('one', 'two'), { root, stateDirectory: tempDir(), signal: AbortSignal.abort() })
  await expect(failing).rejects.not.toBeInstanceOf(CommitError)
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
})
