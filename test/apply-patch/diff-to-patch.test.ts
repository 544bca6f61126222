import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commit, diffToPatch, formatPatch, parsePatch, planPatch, renderFailure } from '../../apply-patch/index.ts'
import { makeCase, readTree } from './case-tools.ts'

const latin = Buffer.from('caf\xe9\n', 'latin1')
const text = Buffer.from('text\n')

describe('a difference that a patch cannot express', () => {
  test.each([
    ['an added file', undefined, latin],
    ['a changed file', latin, Buffer.from('th\xe9\n', 'latin1')],
    ['a file that becomes text', latin, text],
    ['a file that is text no more', text, latin],
  ])('%s that is not UTF-8 is refused, and the error names the file', async (_, before, after) => {
    const pairs = [
      { path: 'fine.txt', before: text, after: Buffer.from('more\n') },
      { path: 'logo.bin', before, after },
    ]
    const error: unknown = await diffToPatch(pairs).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      name: 'PatchError',
      code: 'not-expressible',
      failures: [{ code: 'difference', path: 'logo.bin', reason: 'not-text' }],
    })
    expect(renderFailure(error)).toMatch(
      /^Failed to express the change to "logo\.bin" as a patch\n {2}its content is not UTF-8 text/,
    )
  })

  test.each(['a\nb', ' a', 'a ', 'a ***', ''])('a file called %j is refused', async (path) => {
    await expect(diffToPatch([{ path, before: undefined, after: text }])).rejects.toMatchObject({
      code: 'not-expressible',
      failures: [{ reason: 'path' }],
    })
  })
})

test('a file that is not UTF-8 can be deleted, and a NUL in a line is treated as text', async () => {
  const { cwd } = makeCase({ files: { 'logo.bin': { base64: latin.toString('base64') }, 'nul.txt': 'a\0b\nc\n' } })
  const after = join(cwd, '..', 'after')
  mkdirSync(after)
  writeFileSync(join(after, 'nul.txt'), 'a\0b\nC\0\n')
  const patch = parsePatch(formatPatch(await diffToPatch({ before: cwd, after }))).patch
  await commit(await planPatch(patch, { root: cwd }), { stateDirectory: join(cwd, '..', 'state') })
  expect(readTree(cwd)).toEqual({ 'nul.txt': 'a\0b\nC\0\n' })
})
