import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  commit,
  formatPatch,
  parsePatch,
  PatchError,
  planPatch,
  reversePatch,
  type Mode,
} from '../../apply-patch/index.ts'

const base = mkdtempSync(join(tmpdir(), 'apply-patch-as-meant-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(base, 'tree-'))
})

type Applied = { readonly text: string; readonly codes: readonly string[] }

/** Applies the lines of one operation to the file `f` and returns the resulting content, with the codes of repairs and warnings. */
async function apply(before: string | undefined, lines: readonly string[], mode: Mode = 'lenient'): Promise<Applied> {
  if (before !== undefined) writeFileSync(join(root, 'f'), before)
  const { patch, repairs } = parsePatch(patchOf(lines), { mode })
  const changes = await planPatch(patch, { root, mode })
  await commit(changes, { stateDirectory: join(base, 'state') })
  return {
    text: readFileSync(join(root, 'f'), 'utf8'),
    codes: [...repairs, ...changes.warnings].map(({ code }) => code),
  }
}

function patchOf(lines: readonly string[]): string {
  return ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')
}

const add = '*** Add File: f'
const update = '*** Update File: f'
const remark = String.raw`\ No newline at end of file`

describe('a blank line without its plus in an added file', () => {
  test('becomes a line of the file, with a warning', async () => {
    expect(await apply(undefined, [add, '+a', '', '   ', '+b'])).toEqual({
      text: 'a\n\n\nb\n',
      codes: ['missing-plus', 'missing-plus'],
    })
  })
  test('is ignored at the end, between two operations', async () => {
    expect(await apply(undefined, [add, '+a', '', '', '*** Add File: g', '+b'])).toMatchObject({ text: 'a\n' })
  })
  test('is refused in strict mode', () => {
    expect(() => parsePatch(patchOf([add, '+a', '', '+b']), { mode: 'strict' })).toThrow(PatchError)
  })
  test('produces the intended file, wherever such lines are', async () => {
    const line = fc.constantFrom('a', '', '  b', '*** End Patch', '@@', '-c', '\\ No newline at end of file')
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.array(fc.boolean()), async (middle, drops) => {
        const lines = ['first', ...middle, 'last']
        const written = lines.map((text, index) => (text === '' && drops[index] === true ? '' : `+${text}`))
        rmSync(join(root, 'f'), { force: true })
        expect((await apply(undefined, [add, ...written])).text).toBe(`${lines.join('\n')}\n`)
      }),
    )
  })
})

describe('"\\ No newline at end of file"', () => {
  const cases: readonly (readonly [string, string | undefined, readonly string[], string])[] = [
    ['ends an added file without a final newline', undefined, [add, '+a', '+b', remark], 'a\nb'],
    ['takes the end of the last line away', 'a\nb\n', [update, '@@', ' a', '-b', '+B', remark], 'a\nB'],
    ['also where only that changes', 'a\nb\n', [update, '@@', ' a', '-b', '+b', remark], 'a\nb'],
    ['gives the last line an end', 'a\nb', [update, '@@', '-b', remark, '+B'], 'a\nB\n'],
    ['also where only that changes, the other way', 'a\nb', [update, '@@', '-b', remark, '+b'], 'a\nb\n'],
    ['on both changes nothing but the line', 'a\nb', [update, '@@', '-b', remark, '+B', remark], 'a\nB'],
    ['on context changes nothing', 'a\nb', [update, '@@', '-a', '+A', ' b', remark], 'A\nb'],
    ['far from the end changes nothing there', 'a\nb\n', [update, '@@', '-a', '+A', remark], 'A\nb\n'],
    ['goes with the lines at the end of a file', 'a\n', [update, '@@', '+b', remark], 'a\nb'],
  ]
  test.each(cases)('%s', async (_, before, lines, after) => {
    const { text, codes } = await apply(before, lines)
    expect(text).toBe(after)
    expect(new Set(codes)).toEqual(new Set(['no-newline-marker']))
  })
  test.each(cases)('%s, and is printed and reverted', async (_, before, lines) => {
    const { patch } = parsePatch(patchOf(lines))
    expect(formatPatch(parsePatch(formatPatch(patch)).patch)).toBe(formatPatch(patch))
    const { text } = await apply(before, lines)
    if (before === undefined || text === before) return
    const back = await planPatch(reversePatch(patch), { root })
    await commit(back, { stateDirectory: join(base, 'state') })
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe(before)
  })
  test('is refused if it does not follow a line, and always in strict mode', () => {
    expect(() => parsePatch(patchOf([update, '@@', remark, '-a', '+b']))).toThrow(PatchError)
    for (const [, , lines] of cases) expect(() => parsePatch(patchOf(lines), { mode: 'strict' })).toThrow(PatchError)
  })
})

describe('an empty file', () => {
  // The expected results are those of Codex 0.169.
  test.each([
    ['blank context above', [' ', '+new'], '\nnew\n'],
    ['an empty line above', ['', '+new'], '\nnew\n'],
    ['blank context below', ['+new', ' '], 'new\n'],
    ['a blank line removed', ['-', '+new'], 'new\n'],
  ])('is one blank line to a chunk with %s, with a warning', async (_, lines, after) => {
    expect(await apply('', [update, '@@', ...lines])).toEqual({ text: after, codes: ['empty-file'] })
  })
  test.each([[[' ', ' ', '+new']], [[' x', '+new']], [['-x', '+new']]])('is treated as empty: %j', async (lines) => {
    await expect(apply('', [update, '@@', ...lines])).rejects.toThrow(PatchError)
  })
  test('has no lines in strict mode', async () => {
    await expect(apply('', [update, '@@', ' ', '+new'], 'strict')).rejects.toThrow(PatchError)
  })
})

describe('a lone carriage return', () => {
  test('also ends a line in a file with line feeds', async () => {
    expect((await apply('10%\r20%\ndone\n', [update, '@@', '-20%', '+30%'])).text).toBe('10%\r30%\ndone\n')
    expect((await apply('a\r\r\nb\n', [update, '@@', ' a', ' ', '-b', '+B'])).text).toBe('a\r\r\nB\n')
  })
  test('ends a line of the patch too', async () => {
    const file = 'a\rb\nc\r\n'
    expect((await apply(file, [update, '@@', ' a\rb', '-c', '+C'])).text).toBe('a\rb\nC\r\n')
    expect((await apply(file, [update, '@@', '-a\rb', '+A\rB\rN', ' c'])).text).toBe('A\rB\rN\nc\r\n')
    expect((await apply(file, [update, '@@', '-a\r', '+A', ' b'])).text).toBe('A\rb\nc\r\n')
    expect((await apply('a\r\rb\nc\n', [update, '@@', '-a\r\rb', '+B'])).text).toBe('B\nc\n')
    expect((await apply('a\r\nb\r\n', [update, '@@', ' a', '+x\ry'])).text).toBe('a\r\nx\ry\r\nb\r\n')
  })
  test('does not end a line that is added elsewhere', async () => {
    expect((await apply('a\rb\r\nc\r\n', [update, '@@', ' a', '+n', ' b'])).text).toBe('a\rn\r\nb\r\nc\r\n')
    expect((await apply('a\nb\rc\nd\n', [update, '@@', '-b', '-c', '+X'])).text).toBe('a\nX\nd\n')
  })
  test('and every other line ending stays the same, byte for byte, if another line changes', async () => {
    const ending = fc.constantFrom('\n', '\r\n', '\r')
    const line = fc.tuple(fc.constantFrom('a', 'b', '', ' c', 'ü'), ending)
    await fc.assert(
      fc.asyncProperty(fc.array(line), ending, fc.array(line), async (above, end, below) => {
        const text = (lines: readonly (readonly [string, string])[]): string => lines.flat().join('')
        const file = (middle: string): string => `${text(above)}${middle}${end}${text(below)}`
        const { text: after } = await apply(file('the one line'), [update, '@@', '-the one line', '+another'])
        expect(after).toBe(file('another'))
      }),
    )
  })
})

test('an empty line at the end of a file without a final newline is kept', async () => {
  expect((await apply('a\nb', [update, '@@', ' a', '-b', '+c', '+'])).text).toBe('a\nc\n\n')
  expect((await apply('a\n\nb', [update, '@@', ' a', ' ', '-b'])).text).toBe('a\n\n')
  expect((await apply('a\r\nb', [update, '@@', ' a', '-b', '+c'])).text).toBe('a\r\nc')
})
