import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
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

describe('files with modes', () => {
  const [plain, executable] = [0o644, 0o755]
  test.each([
    ['that becomes executable', { before: text, after: text }, { before: plain, after: executable }],
    ['that changes, and is executable no more', { before: text, after: latin }, { before: executable, after: plain }],
    ['that is added', { before: undefined, after: text }, { after: executable }],
  ])('one %s is refused, and the error says why', async (_, contents, modes) => {
    const error: unknown = await diffToPatch([{ path: 'run', ...contents, modes }]).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ failures: [{ code: 'difference', path: 'run', reason: 'mode' }] })
    expect(renderFailure(error)).toMatch(/"run" as a patch\n {2}it can be executed only before or only after/)
  })
  test('that can be executed or not are no difference otherwise', async () => {
    for (const modes of [{ before: 0o644, after: 0o600 }, { after: executable }, {}, { before: 0o755, after: 0o700 }]) {
      expect(await diffToPatch([{ path: 'run', before: text, after: text, modes }])).toEqual({ operations: [] })
    }
  })
})

describe('a file that is removed at one path and added at another', () => {
  const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('')
  const ten = Array.from({ length: 10 }, (_, index) => `line ${index}`)
  test('is moved, with its changes, its mode and bytes that are not text', async () => {
    const { cwd } = makeCase({
      files: {
        'old/run': { mode: '755', content: lines(...ten) },
        'old/logo': { base64: latin.toString('base64') },
        'old/gone': lines('a', 'b', 'c'),
        same: 'x\n',
      },
    })
    const after = join(cwd, '..', 'after')
    mkdirSync(join(after, 'new'), { recursive: true })
    writeFileSync(join(after, 'new/run'), lines(...ten.with(4, 'changed')), { mode: 0o755 })
    writeFileSync(join(after, 'new/logo'), latin)
    writeFileSync(join(after, 'new/other'), lines('a', 'x', 'y'))
    writeFileSync(join(after, 'same'), 'x\n')
    const text = formatPatch(await diffToPatch({ before: cwd, after }))
    expect(text.split('\n').filter((line) => line.startsWith('***'))).toEqual([
      '*** Begin Patch',
      '*** Update File: old/logo',
      '*** Move to: new/logo',
      '*** Add File: new/other',
      '*** Update File: old/run',
      '*** Move to: new/run',
      '*** Delete File: old/gone',
      '*** End Patch',
    ])
    const like = { 'new/run': { mode: '' } }
    await commit(await planPatch(parsePatch(text).patch, { root: cwd }), { stateDirectory: join(cwd, '..', 'state') })
    const { 'old/': folder, ...rest } = readTree(cwd, like)
    expect(folder).toBe('<empty dir>')
    expect(rest).toEqual(readTree(after, like))
  })
  test('is not moved if only one of the two can be executed, or if one path is below the other', async () => {
    const types = async (pairs: Parameters<typeof diffToPatch>[0]): Promise<readonly string[]> =>
      (await diffToPatch(pairs)).operations.map(({ type }) => type)
    const gone = { before: text, after: undefined }
    const fresh = { before: undefined, after: text }
    expect(
      await types([
        { path: 'a', ...gone, modes: { before: 0o755 } },
        { path: 'b', ...fresh, modes: { after: 0o644 } },
      ]),
    ).toEqual(['delete', 'add'])
    expect(
      await types([
        { path: 'a', ...gone },
        { path: 'a/b', ...fresh },
      ]),
    ).toEqual(['delete', 'add'])
  })
  test('prefers the path with the same name, and each file is moved once', async () => {
    const gone = { before: text, after: undefined }
    const fresh = { before: undefined, after: text }
    const { operations } = await diffToPatch([
      { path: 'a/one', ...gone },
      { path: 'a/two', ...gone },
      { path: 'b/two', ...fresh },
      { path: 'b/three', ...fresh },
      { path: 'b/four', ...fresh },
    ])
    expect(operations).toMatchObject([
      { path: 'a/two', moveTo: 'b/two' },
      { path: 'a/one', moveTo: 'b/three' },
      { type: 'add', path: 'b/four' },
    ])
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

test('a patch fits its own file where lone carriage returns end lines, and gives the new text up to line endings', async () => {
  const line = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', ' e'), fc.constantFrom('\n', '\r\n', '\r'))
  const content = fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => lines.flat().join(''))
  const { cwd } = makeCase({ files: {} })
  const plain = (text: string): string => text.replaceAll(/\r\n|\r/g, '\n')
  await fc.assert(
    fc.asyncProperty(content, content, async (before, after) => {
      writeFileSync(join(cwd, 'f'), before)
      const patch = await diffToPatch([{ path: 'f', before: Buffer.from(before), after: Buffer.from(after) }])
      if (patch.operations.length === 0) {
        expect(plain(before)).toBe(plain(after))
        return
      }
      const { changes } = await planPatch(parsePatch(formatPatch(patch)).patch, { root: cwd, ambiguous: 'refuse' })
      const [change] = changes
      const found = change?.type === 'write' ? Buffer.concat(change.content).toString() : before
      expect(plain(found)).toBe(plain(after))
    }),
  )
})
