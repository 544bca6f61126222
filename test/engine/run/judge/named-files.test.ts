import { expect, test } from 'vitest'
import { namedFiles } from '../../../../engine/run/judge/named-files.ts'
import { countCalls } from '../../../../engine/run/judge/test-text.ts'

const isTest = (path: string): boolean => path.includes('.test.')

/** The files of a tree that count as named by a command. */
function namedIn(files: Readonly<Record<string, string>>, command: string): readonly string[] {
  const { direct, imported } = namedFiles(Object.keys(files), [{ folder: '', text: command }], {
    files: Object.keys(files),
    cwd: '',
    read: (path) => files[path],
    targetOf: () => undefined,
    hasTests: isTest,
    isCode: () => true,
  })
  return [...direct, ...imported]
}

test('what a named file imports is named, and what that imports', () => {
  const files = {
    'tools/setup.js': "require('./a')\nrequire('../lib')",
    'tools/a.mjs': "import '/tools/b.mjs'",
    'tools/b.mjs': '',
    'lib/index.js': '',
    'src/a.mjs': '',
  }
  expect(namedIn(files, 'runner --setup ./tools/setup.js')).toEqual([
    'tools/setup.js',
    'tools/a.mjs',
    'tools/b.mjs',
    'lib/index.js',
  ])
})

test('what tests or sources import as well is tested, and so is everything that only it imports', () => {
  const files = {
    'tools/setup.js': "require('../src/db')\nrequire('../src/entry')\nrequire('./own')",
    'tools/own.js': '',
    'src/db.js': "require('./pool')",
    'src/pool.js': '',
    'src/entry.js': "require('./deep')",
    'src/deep.js': '',
    'src/app.js': "require('./db')",
    'src/entry.test.js': "require('./entry')",
  }
  expect(namedIn(files, 'runner -r tools/setup')).toEqual(['tools/setup.js', 'tools/own.js'])
})

test('a file that a command names is named whatever else imports it, and a test is followed no further', () => {
  const files = {
    'src/main.js': "require('./a')",
    'src/a.js': '',
    'src/main.test.js': "require('./main')\nrequire('./b')",
    'src/b.js': '',
  }
  expect(namedIn(files, 'node src/main.js && node --test src/main.test.js')).toEqual([
    'src/main.js',
    'src/main.test.js',
  ])
})

test('marks of a test check nothing', () => {
  expect(countCalls("@mark.parametrize('a', [1])\ndef test_a(a):\n    check(a)")).toBe(2)
  expect(countCalls('#[case(1)]\nfn a() {\n    assert_eq!(f(), 1);')).toBe(3)
})
