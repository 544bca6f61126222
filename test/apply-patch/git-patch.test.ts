import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitPatch, mergeText, type GitSide } from '../../apply-patch/index.ts'
import { tempDir } from '../support/temp-dir.ts'

const file = (bytes: string | Buffer, mode = 0o644): GitSide => ({ type: 'file', bytes: Buffer.from(bytes), mode })
const noise = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * index * 7919) % 256))

const sides: readonly (readonly [string, GitSide, GitSide])[] = [
  ['a text is changed', file('1\n2\n3\n'), file('1\ntwo\n3\n')],
  ['a text loses its final newline', file('1\n2\n'), file('1\n2')],
  ['a file is made', undefined, file('new\n', 0o755)],
  ['an empty file is made', undefined, file('')],
  ['a file is removed', file('old\n'), undefined],
  ['bytes are changed', file(Buffer.from('a\0b')), file(noise)],
  ['bytes are made', undefined, file(noise)],
  ['bytes are removed', file(noise), undefined],
  ['a mode is changed', file('x\n'), file('x\n', 0o755)],
  ['a mode and a text are changed', file('x\n'), file('y\n', 0o755)],
  ['a link is made', undefined, { type: 'symlink', target: 'to/there' }],
  ['a link leads elsewhere', { type: 'symlink', target: 'a' }, { type: 'symlink', target: 'b' }],
  ['a file becomes a link', file('x\n'), { type: 'symlink', target: 'b' }],
]

test.each(sides)('git applies and reverts a patch if %s', (_, before, after) => {
  // In a repository, git would take the paths as those of the repository.
  const directory = tempDir()
  for (const name of ['plain.txt', 'odd "name"\\\twith é']) {
    const path = join(directory, name)
    const put = (side: GitSide): void => {
      rmSync(path, { force: true })
      if (side?.type === 'symlink') symlinkSync(side.target, path)
      if (side?.type !== 'file') return
      writeFileSync(path, side.bytes)
      chmodSync(path, side.mode)
    }
    const look = (): unknown => {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (stats === undefined) return undefined
      if (stats.isSymbolicLink()) return { type: 'symlink', target: readlinkSync(path) }
      return { type: 'file', bytes: readFileSync(path), mode: (stats.mode & 0o100) === 0 ? 0o644 : 0o755 }
    }
    put(before)
    const apply = (...words: string[]) =>
      execFileSync('git', ['apply', '--binary', ...words], { cwd: directory, input: gitPatch(name, before, after) })
    apply()
    expect(look()).toEqual(after)
    apply('--reverse')
    expect(look()).toEqual(before)
  }
})

test('without changes there is no patch', () => {
  expect(gitPatch('x', undefined, undefined)).toBe('')
  expect(gitPatch('x', file('same'), file('same'))).toBe('')
})

const merged = (base: string, one: string, other: string): string | undefined =>
  mergeText(Buffer.from(base), Buffer.from(one), Buffer.from(other))?.toString()

test.each([
  ['1\n2\n3\n4\n5\n', 'one\n2\n3\n4\n5\n', '1\n2\n3\n4\nfive\n', 'one\n2\n3\n4\nfive\n'],
  ['1\n2\n3\n', '1\n2\n3\nend\n', 'begin\n1\n2\n3\n', 'begin\n1\n2\n3\nend\n'],
  ['1\n2\n3\n', '1\n3\n', '1\n3\n', '1\n3\n'],
  ['1\n2\n3\n', '1\n2\n3\n', 'other\n', 'other\n'],
  ['1\n2\n3\n4\n', 'x\n2\n3\n4', 'x\n2\n3\n4', 'x\n2\n3\n4'],
  ['1\n2\n3\n', '1\ntwo\n3\n', '1\nzwei\n3\n', undefined],
  ['1\n2\n3\n', '1\ntwo\n3\n', '1\n2\nthree\n', undefined],
  ['1\n2\n', '1\na\n2\n', '1\nb\n2\n', undefined],
  ['', 'a\n', 'b\n', undefined],
  ['a\0', 'b\0', 'c\0', undefined],
])('of the base %j, %j and %j are merged to %j', (base, one, other, expected) => {
  expect(merged(base, one, other)).toBe(expected)
  expect(merged(base, other, one)).toBe(expected)
})
