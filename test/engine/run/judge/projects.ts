import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Files } from '../../../support/judge-change.ts'
import { needsPrograms } from '../../../support/needs.ts'

/** A small project whose tests one runner runs. */
export type Project = {
  readonly files: Readonly<Record<string, string | { readonly link: string }>>
  readonly command: string
  readonly readable?: readonly string[]
  /** Whether the runner is missing here. */
  readonly isMissing: () => boolean
  /** A change of the source that breaks the test of `add`. */
  readonly broken: Files
  /** A change of the source that keeps all results. */
  readonly better: Files
}

const modules = realpathSync(join(import.meta.dirname, '../../../../node_modules'))

/** Where jest is installed, which is no dependency of the project: the environment variable names the directory that contains its `node_modules`. */
const jestHome = process.env['PORTCULLIS_TEST_JEST']
const jestModules = jestHome === undefined ? undefined : join(realpathSync(jestHome), 'node_modules')

const js = {
  'src/math.js': `exports.add = (a, b) => a + b
exports.double = (a) => a * 2
exports.list = () => ['a', 'b']
`,
  '.gitignore': 'node_modules\n',
}

const jsBroken = { 'src/math.js': js['src/math.js'].replace('a + b', 'a - b') }
const jsBetter = { 'src/math.js': js['src/math.js'].replace('a * 2', 'exports.add(a, a)') }

export const node: Project = {
  command: 'npm test',
  isMissing: () => needsPrograms('npm'),
  broken: jsBroken,
  better: jsBetter,
  files: {
    ...js,
    'package.json': `{
  "name": "p",
  "scripts": { "test": "node --test", "lint": "true" }
}
`,
    'test/math.test.js': `const { describe, test } = require('node:test')
const assert = require('node:assert')
const { add, double, list } = require('../src/math.js')
const { expected } = require('./helper.js')

test('adds', () => {
  assert.equal(add(1, 2), expected)
})

describe('others', () => {
  test('doubles', () => {
    assert.equal(double(2), 4)
  })
  for (const name of ['a', 'b']) {
    test('lists ' + name, () => {
      assert.ok(list().includes(name))
    })
  }
})
`,
    'test/helper.js': 'exports.expected = 3\n',
  },
}

/** The tests of vitest and jest, which differ only in what is imported above them. */
const mathTests = `test('adds', () => {
  expect(add(1, 2)).toBe(3)
})

describe('others', () => {
  test('doubles', () => {
    expect(double(2)).toBe(4)
  })
  test.each(['a', 'b'])('lists %s', (name) => {
    expect(list()).toContain(name)
  })
})
`

export const vitest: Project = {
  command: 'npm test',
  readable: [modules],
  isMissing: () => needsPrograms('npm'),
  broken: { 'src/math.mjs': js['src/math.js'].replaceAll('exports.', 'export const ').replace('a + b', 'a - b') },
  better: { 'src/math.mjs': js['src/math.js'].replaceAll('exports.', 'export const ').replace('a * 2', 'add(a, a)') },
  files: {
    '.gitignore': js['.gitignore'],
    'src/math.mjs': js['src/math.js'].replaceAll('exports.', 'export const '),
    'package.json': `{
  "name": "p",
  "scripts": { "test": "vitest run" }
}
`,
    'vitest.config.mjs': `export default { test: { cache: false, include: ['src/**/*.test.mjs'] } }\n`,
    'node_modules/vitest': { link: join(modules, 'vitest') },
    'node_modules/.bin/vitest': { link: '../vitest/vitest.mjs' },
    'src/math.test.mjs': `import { describe, expect, test } from 'vitest'
import { add, double, list } from './math.mjs'

${mathTests}`,
  },
}

export const jest: Project = {
  command: 'npm test',
  readable: jestModules === undefined ? [] : [jestModules],
  isMissing: () => {
    if (jestModules !== undefined && existsSync(join(jestModules, 'jest'))) return needsPrograms('npm')
    process.stderr.write('skipped: jest is not installed in the directory that PORTCULLIS_TEST_JEST names\n')
    return true
  },
  broken: jsBroken,
  better: jsBetter,
  files: {
    ...js,
    'package.json': `{
  "name": "p",
  "scripts": { "test": "jest" },
  "jest": { "testMatch": ["**/*.test.js"], "haste": { "enableSymlinks": false } }
}
`,
    ...(jestModules === undefined
      ? {}
      : {
          'node_modules/jest': { link: join(jestModules, 'jest') },
          'node_modules/.bin/jest': { link: '../jest/bin/jest.js' },
        }),
    'src/math.test.js': `const { add, double, list } = require('./math.js')

${mathTests}`,
  },
}

export const pytest: Project = {
  command: 'pytest -q',
  isMissing: () => needsPrograms('pytest'),
  broken: { 'calc.py': 'def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 2\n' },
  better: { 'calc.py': 'def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return add(a, a)\n' },
  files: {
    'calc.py': 'def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return a * 2\n',
    '.gitignore': '__pycache__\n.pytest_cache\n',
    'conftest.py': 'import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n',
    'tests/test_calc.py': `import pytest

from calc import add, double


def test_add(three):
    assert add(1, 2) == three


class TestOthers:
    def test_double(self):
        assert double(2) == 4

    @pytest.mark.parametrize("a, b", [(1, 2), (2, 4)])
    def test_doubles(self, a, b):
        assert double(a) == b
`,
    'pyproject.toml': `[project]
name = "calc"
version = "1"

[tool.pytest.ini_options]
pythonpath = ["."]
`,
  },
}

const goTest = `package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("wrong")
	}
}

func TestDouble(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b int
	}{{"one", 1, 2}, {"two", 2, 4}} {
		t.Run(c.name, func(t *testing.T) {
			if Double(c.a) != c.b {
				t.Error("wrong")
			}
		})
	}
}
`

export const go: Project = {
  command: 'go test ./...',
  isMissing: () => needsPrograms('go'),
  broken: {
    'calc.go': 'package calc\n\nfunc Add(a, b int) int { return a - b }\n\nfunc Double(a int) int { return a * 2 }\n',
  },
  better: {
    'calc.go':
      'package calc\n\nfunc Add(a, b int) int { return b + a }\n\nfunc Double(a int) int { return Add(a, a) }\n',
  },
  files: {
    'go.mod': 'module example.com/calc\n\ngo 1.19\n',
    'calc.go': 'package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Double(a int) int { return a * 2 }\n',
    'calc_test.go': goTest,
    Makefile: 'test:\n\tgo test ./...\n\nclean:\n\ttrue\n',
  },
}

export const cargo: Project = {
  command: 'cargo test --offline',
  isMissing: () => needsPrograms('cargo'),
  broken: {
    'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\npub fn double(a: i32) -> i32 {\n    a * 2\n}\n',
  },
  better: {
    'src/lib.rs':
      'pub fn add(a: i32, b: i32) -> i32 {\n    b + a\n}\n\npub fn double(a: i32) -> i32 {\n    add(a, a)\n}\n',
  },
  files: {
    '.gitignore': 'target\n',
    'Cargo.toml': '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    'Cargo.lock': 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
    'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn double(a: i32) -> i32 {\n    a * 2\n}\n',
    'tests/calc.rs': `use calc::{add, double};

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}
`,
  },
}
