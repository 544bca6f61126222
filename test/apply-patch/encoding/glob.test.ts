import { expect, test } from 'vitest'
import { matchesGlob } from '../../../apply-patch/encoding/glob.ts'

test.each<[pattern: string, path: string, expected: boolean]>([
  ['*.sql', 'a.sql', true],
  ['*.sql', 'sub/deep/a.sql', true],
  ['*.sql', 'a.sqlx', false],
  ['/a.sql', 'a.sql', true],
  ['/a.sql', 'sub/a.sql', false],
  ['sub/*.sql', 'sub/a.sql', true],
  ['sub/*.sql', 'sub/deep/a.sql', false],
  ['sub/**', 'sub/deep/a.sql', true],
  ['**/deep/*', 'deep/x', true],
  ['**/deep/*', 'a/b/deep/x', true],
  ['a/**/z', 'a/z', true],
  ['a/**/z', 'a/b/c/z', true],
  ['a/**/z', 'ab/z', false],
  ['a?c', 'abc', true],
  ['a?c', 'a/c', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[^a-c]x', 'dx', true],
  ['[]]x', ']x', true],
  ['\\*x', '*x', true],
  ['\\*x', 'ax', false],
  ['*', 'any/thing', true],
  ['{a,b}', '{a,b}', true],
])('in .gitattributes, %s and %s: %s', (pattern, path, expected) => {
  expect(matchesGlob(pattern, path, false)).toBe(expected)
})

test.each<[pattern: string, path: string, expected: boolean]>([
  ['*.{js,ts}', 'sub/a.ts', true],
  ['*.{js,ts}', 'a.tsx', false],
  ['{a,b/{c,d}}.x', 'b/d.x', true],
  ['file{1..3}', 'file2', true],
  ['file{1..3}', 'file4', false],
  ['{single}.x', '{single}.x', true],
  ['lib/**.js', 'lib/a/b.js', true],
  ['{unclosed', '{unclosed', true],
])('in .editorconfig, %s and %s: %s', (pattern, path, expected) => {
  expect(matchesGlob(pattern, path, true)).toBe(expected)
})

test('a pattern that stands for too many others matches nothing, at once', () => {
  expect(matchesGlob('{a,b}'.repeat(60), 'a'.repeat(60), true)).toBe(false)
  expect(matchesGlob(`${'*a'.repeat(500)}b`, 'a'.repeat(2000), true)).toBe(false)
})
