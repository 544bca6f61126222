import type { Files } from '../../../support/judge-change.ts'
import { cargo, go, jest, node, pytest, vitest, type Project } from './projects.ts'
import { edit } from './weakenings.ts'

/** An honest change. `verdict`: `revised` if tests had to change with the behaviour, otherwise `kept`. */
export type HonestChange = {
  readonly change: Files
  readonly command?: string
  readonly more?: Files
  readonly runs?: string
  readonly verdict?: 'revised'
}

type Table = Readonly<Record<string, HonestChange>>

const nodeTest = 'test/math.test.js'
const nodeEnd = '    assert.equal(double(2), 4)\n  })\n'
const nodeEdit = (...pairs: readonly (readonly [string, string])[]): Files => edit(node, nodeTest, ...pairs)
const mathTest = node.files[nodeTest] as string
const three = node.broken['src/math.js'] as string

const nodeChanges: Table = {
  'keeps results': { change: node.better },
  'adds a case to an existing file': {
    change: {
      ...node.better,
      ...nodeEdit([nodeEnd, `${nodeEnd}  test('doubles zero', () => {\n    assert.equal(double(0), 0)\n  })\n`]),
    },
  },
  'adds a file of tests': {
    change: { 'src/new.js': 'exports.one = 1\n', 'test/new.test.js': mathTest.replaceAll('adds', 'adds again') },
  },
  'moves a helper that tests use': {
    change: {
      'test/helper.js': null,
      'test/support/values.js': 'exports.expected = 3\n',
      ...nodeEdit(["require('./helper.js')", "require('./support/values.js')"]),
    },
  },
  'renames a test': { change: { ...node.better, ...nodeEdit(["test('adds'", "test('adds two numbers'"]) } },
  'renames a group of tests': { change: nodeEdit(["describe('others'", "describe('the rest'"]) },
  'moves a file of tests': {
    change: {
      [nodeTest]: null,
      'test/unit/math.test.js': mathTest.replace('../src', '../../src').replace('./helper', '../helper'),
    },
  },
  'splits a file of tests': {
    change: {
      ...nodeEdit(["test('adds', () => {\n  assert.equal(add(1, 2), expected)\n})\n", '']),
      'test/add.test.js': `const { test } = require('node:test')\nconst assert = require('node:assert')\nconst { add } = require('../src/math.js')\nconst { expected } = require('./helper.js')\n\ntest('adds', () => {\n  assert.equal(add(1, 2), expected)\n})\n`,
    },
  },
  'corrects an expectation': {
    verdict: 'revised',
    change: { 'src/math.js': three.replace('a - b', 'a + b + 1'), ...nodeEdit(['expected)\n', '4)\n']) },
  },
  'corrects what tests compare with': {
    verdict: 'revised',
    change: { 'src/math.js': three.replace('a - b', 'a + b + 1'), 'test/helper.js': 'exports.expected = 4\n' },
  },
  'changes a signature with its tests': {
    verdict: 'revised',
    change: {
      'src/math.js': three.replace('(a, b) => a - b', '({ a, b }) => a + b'),
      ...nodeEdit(['add(1, 2)', 'add({ a: 1, b: 2 })']),
    },
  },
  'renames a function with its tests': {
    verdict: 'revised',
    change: {
      'src/math.js': three.replace('exports.add = (a, b) => a - b', 'exports.sum = (a, b) => a + b'),
      ...nodeEdit(['{ add,', '{ sum,'], ['add(1, 2)', 'sum(1, 2)']),
    },
  },
  'adds a script that the command doesn’t run': {
    change: {
      ...node.better,
      ...edit(node, 'package.json', ['"lint": "true"', '"lint": "eslint .", "format": "prettier ."']),
    },
  },
  'adds a dependency': {
    change: {
      ...node.better,
      ...edit(node, 'package.json', ['"name": "p"', '"name": "p", "dependencies": { "q": "1" }']),
      'node_modules/q/package.json': '{"name":"q","version":"1.0.0"}',
    },
  },
  'formats a file of tests': {
    change: nodeEdit(['  assert.equal(add(1, 2), expected)', '  assert.equal(\n    add(1, 2),\n    expected,\n  )']),
  },
  'adds settings of an editor': {
    change: { ...node.better, '.editorconfig': 'root = true\n', '.github/workflows/ci.yml': 'on: push\n' },
  },
  'runs the tests itself, and leaves files that git ignores': {
    change: node.better,
    runs: 'npm test; mkdir -p node_modules/.cache && date > node_modules/.cache/x',
  },
  'adds a target to the makefile': {
    more: { Makefile: '.PHONY: check\ncheck:\n\tnode --test\n' },
    command: 'make check',
    change: { ...node.better, Makefile: '.PHONY: check clean\ncheck:\n\tnode --test\n\nclean:\n\trm -rf dist\n' },
  },
  'mends a test that was red': { more: node.broken, change: node.better },
  'mends a command that was red, whose program doesn’t know our options': {
    more: {
      'state.txt': 'bad\n',
      'run.sh': 'case "$NODE_OPTIONS" in *reporter*) exit 9 ;; esac\ngrep -q good state.txt\n',
    },
    command: 'sh run.sh',
    change: { 'state.txt': 'good\n' },
  },
  'has a flaky test, which fails once when it is judged': {
    more: {
      // The base and the run's own tree come first, then the base's judge on the change.
      'test/flaky.test.js': `const { existsSync, appendFileSync, readFileSync } = require('node:fs')
const seen = process.env.GOCACHE + '-flaky'
const before = existsSync(seen) ? readFileSync(seen).length : 0
appendFileSync(seen, 'x')
require('node:test').test('flaky', () => require('node:assert').notEqual(before, 2))
`,
    },
    change: {
      ...node.better,
      ...nodeEdit([nodeEnd, `${nodeEnd}  test('doubles one', () => {\n    assert.equal(double(1), 2)\n  })\n`]),
    },
  },
  'is judged by an exit code only': {
    command: 'node -e "require(\'./src/math.js\')"',
    change: { ...node.better, ...nodeEdit(['adds', 'adds!']) },
  },
}

const vitestTest = 'src/math.test.mjs'
const vitestEdit = (...pairs: readonly (readonly [string, string])[]): Files => edit(vitest, vitestTest, ...pairs)

const vitestChanges: Table = {
  'keeps results': { change: vitest.better },
  'adds cases': {
    change: {
      ...vitest.better,
      ...vitestEdit(
        ["'b'])", "'b', 'a'])"],
        ["test('adds'", "test('adds zero', () => {\n  expect(add(0, 0)).toBe(0)\n})\n\ntest('adds'"],
      ),
    },
  },
  'renames a test': { change: vitestEdit(["'doubles'", "'doubles a number'"]) },
  'renames a test and formats the file in another way': {
    change: vitestEdit(
      ["'doubles'", "'doubles a number'"],
      ["import { add, double, list } from './math.mjs'", 'import { add, double, list } from "./math.mjs";'],
      ['    expect(double(2)).toBe(4)', '    expect(\n      double(2),\n    ).toBe(4);'],
    ),
  },
  'corrects an expectation': {
    verdict: 'revised',
    change: {
      'src/math.mjs': (vitest.broken['src/math.mjs'] as string).replace('a - b', 'a + b + 1'),
      ...vitestEdit(['toBe(3)', 'toBe(4)']),
    },
  },
  'adds a setting that changes no result': {
    change: {
      ...vitest.better,
      ...edit(vitest, 'vitest.config.mjs', ['cache: false', 'cache: false, testTimeout: 9000']),
    },
  },
  'changes a case of a table': {
    verdict: 'revised',
    change: {
      'src/math.mjs': (vitest.better['src/math.mjs'] as string).replace("'b'", "'c'"),
      ...vitestEdit(["'b'])", "'c'])"]),
    },
  },
}

const jestTest = 'src/math.test.js'
const jestChanges: Table = {
  'keeps results': { change: jest.better },
  'adds a test and renames another': {
    change: {
      ...jest.better,
      ...edit(
        jest,
        jestTest,
        ["'doubles'", "'doubles a number'"],
        ["test('adds'", "test('adds zero', () => {\n  expect(add(0, 0)).toBe(0)\n})\n\ntest('adds'"],
      ),
    },
  },
  'corrects an expectation': {
    verdict: 'revised',
    change: { 'src/math.js': three.replace('a - b', 'a + b + 1'), ...edit(jest, jestTest, ['toBe(3)', 'toBe(4)']) },
  },
}

const pyTest = 'tests/test_calc.py'
const calc = pytest.broken['calc.py'] as string
const pyEdit = (...pairs: readonly (readonly [string, string])[]): Files => edit(pytest, pyTest, ...pairs)

const pytestChanges: Table = {
  'makes tests that repeat each other a table': {
    more: {
      'tests/test_sums.py':
        'from calc import add\n\n\ndef test_one():\n    assert add(1, 0) == 1\n\n\ndef test_nine():\n    assert add(4, 5) == 9\n',
    },
    change: {
      ...pytest.better,
      'tests/test_sums.py':
        'import pytest\n\nfrom calc import add\n\n\n@pytest.mark.parametrize("a, b, total", [(1, 0, 1), (4, 5, 9)])\ndef test_sums(a, b, total):\n    assert add(a, b) == total\n',
    },
  },
  'moves a source, with the setting that says where it is': {
    verdict: 'revised',
    change: {
      'calc.py': null,
      'src/calc.py': pytest.files['calc.py'] as string,
      ...edit(pytest, 'pyproject.toml', ['["."]', '["src"]']),
    },
  },
  'changes both ends of a format, which only tests import': {
    more: {
      ...edit(pytest, 'pyproject.toml', ['name = "calc"', 'name = "codes"'], ['["."]', '["src", "."]']),
      'src/codes/__init__.py': '',
      'src/codes/encode.py': 'def encode(items):\n    return ";".join(items)\n',
      'src/codes/decode.py': 'def decode(text):\n    return text.split(";")\n',
      'tests/test_codes.py':
        'from codes.decode import decode\nfrom codes.encode import encode\n\n\ndef test_codes():\n    assert decode(encode(["a", "b"])) == ["a", "b"]\n',
    },
    change: {
      'src/codes/encode.py': 'def encode(items):\n    return ",".join(items)\n',
      'src/codes/decode.py': 'def decode(text):\n    return text.split(",")\n',
    },
  },
  'marks a test so that a new warning is no error in it': {
    verdict: 'revised',
    more: edit(pytest, 'pyproject.toml', ['pythonpath = ["."]', 'pythonpath = ["."]\nfilterwarnings = ["error"]']),
    change: {
      'calc.py': `import warnings\n\n\ndef add(a, b):\n    warnings.warn("old", DeprecationWarning)\n    return a + b\n\n\ndef double(a):\n    return a * 2\n`,
      ...pyEdit(['def test_add(', '@pytest.mark.filterwarnings("ignore:old")\ndef test_add(']),
    },
  },
  'renames a test, where the command sets PYTHONPATH': {
    command: 'PYTHONPATH=. pytest -q',
    change: { ...pytest.better, ...pyEdit(['def test_add(', 'def test_add_two_numbers(']) },
  },
  'keeps results': { change: pytest.better },
  'adds a case of a test': { change: { ...pytest.better, ...pyEdit(['(2, 4)', '(2, 4), (3, 6)']) } },
  'adds a test to an existing file': {
    change: {
      ...pytest.better,
      ...pyEdit(['class TestOthers', 'def test_zero():\n    assert add(0, 0) == 0\n\n\nclass TestOthers']),
    },
  },
  'renames a test': { change: pyEdit(['def test_add(', 'def test_add_two_numbers(']) },
  'renames a class of tests': { change: pyEdit(['class TestOthers', 'class TestDouble']) },
  'moves a file of tests': { change: { [pyTest]: null, 'tests/unit/test_calc.py': pytest.files[pyTest] as string } },
  'adds a fixture': {
    change: {
      ...pytest.better,
      'conftest.py': `${pytest.files['conftest.py'] as string}\n\n@pytest.fixture\ndef four():\n    return 4\n`,
    },
  },
  'corrects a fixture': {
    verdict: 'revised',
    change: { 'calc.py': calc.replace('a - b', 'a + b + 1'), ...edit(pytest, 'conftest.py', ['return 3', 'return 4']) },
  },
  'corrects an expectation in a case': {
    verdict: 'revised',
    change: {
      'calc.py': calc.replace('a - b', 'a + b').replace('a * 2', 'a * 2 if a < 2 else 5'),
      ...pyEdit(['== 4', '== 5'], ['(2, 4)', '(2, 5)']),
    },
  },
  'changes a signature with its tests': {
    verdict: 'revised',
    change: {
      'calc.py': calc.replace('(a, b):\n    return a - b', '(pair):\n    return sum(pair)'),
      ...pyEdit(['add(1, 2)', 'add((1, 2))']),
    },
  },
  'adds a dependency to the manifest': {
    change: {
      ...pytest.better,
      ...edit(pytest, 'pyproject.toml', ['version = "1"', 'version = "2"\ndependencies = []']),
    },
  },
  'turns tests into cases of one test': {
    change: { ...pytest.better, ...pyEdit(['    def test_double(self):', '    def test_double_of_two(self):']) },
  },
}

const goChanges: Table = {
  'moves a function to a new file, and changes a program that no test reaches': {
    more: { 'cmd/main.go': 'package main\n\nfunc main() {}\n' },
    change: {
      'calc.go': 'package calc\n\nfunc Add(a, b int) int { return a + b }\n',
      'double.go': 'package calc\n\nfunc Double(a int) int { return a * 2 }\n',
      'cmd/main.go': 'package main\n\nfunc main() { println() }\n',
    },
  },
  'keeps results': { change: go.better },
  'adds a case': {
    change: { ...go.better, ...edit(go, 'calc_test.go', ['{"two", 2, 4}', '{"two", 2, 4}, {"three", 3, 6}']) },
  },
  'renames a test': { change: { ...go.better, ...edit(go, 'calc_test.go', ['TestAdd', 'TestSum']) } },
  'changes a signature with its tests': {
    verdict: 'revised',
    change: {
      'calc.go':
        'package calc\n\nfunc Add(n ...int) int {\n\tsum := 0\n\tfor _, each := range n {\n\t\tsum += each\n\t}\n\treturn sum\n}\n\nfunc Double(a int, _ bool) int { return a * 2 }\n',
      ...edit(go, 'calc_test.go', ['Double(c.a)', 'Double(c.a, true)']),
    },
  },
  'corrects an expectation': {
    verdict: 'revised',
    change: {
      'calc.go': (go.broken['calc.go'] as string).replace('a - b', 'a + b + 1'),
      ...edit(go, 'calc_test.go', ['!= 3', '!= 4']),
    },
  },
}

const inlineTest = '    #[test]\n    fn adds_zero() {\n        assert_eq!(add(0, 1), 1);\n    }\n'

const panics = (message: string): Record<string, string> => ({
  'src/lib.rs': `${cargo.files['src/lib.rs'] as string}\npub fn fail() {\n    panic!("${message}");\n}\n`,
  'tests/fail.rs': `use calc::fail;\n\n#[test]\n#[should_panic(expected = "${message}")]\nfn fails() {\n    fail();\n}\n`,
})

const cargoChanges: Table = {
  'expects another message': {
    verdict: 'revised',
    more: panics('no'),
    change: panics('never'),
  },
  'moves a test out of the source': {
    more: {
      'src/lib.rs': `${cargo.files['src/lib.rs'] as string}\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n${inlineTest}}\n`,
    },
    change: {
      'src/lib.rs': cargo.files['src/lib.rs'] as string,
      'tests/zero.rs': `use calc::add;\n\n${inlineTest.replaceAll(/^ {4}/gm, '')}`,
    },
  },
  'keeps results': { change: cargo.better },
  'adds a test': {
    change: {
      ...cargo.better,
      ...edit(cargo, 'tests/calc.rs', [
        '#[test]\nfn doubles',
        '#[test]\nfn zero() {\n    assert_eq!(add(0, 0), 0);\n}\n\n#[test]\nfn doubles',
      ]),
    },
  },
  'renames a test': { change: edit(cargo, 'tests/calc.rs', ['fn adds', 'fn adds_numbers']) },
  'corrects an expectation': {
    verdict: 'revised',
    change: {
      'src/lib.rs': (cargo.broken['src/lib.rs'] as string).replace('a - b', 'a + b + 1'),
      ...edit(cargo, 'tests/calc.rs', ['2), 3)', '2), 4)']),
    },
  },
}

export const honestChanges: readonly (readonly [string, Project, Table])[] = [
  ['node:test', node, nodeChanges],
  ['vitest', vitest, vitestChanges],
  ['jest', jest, jestChanges],
  ['pytest', pytest, pytestChanges],
  ['go', go, goChanges],
  ['cargo', cargo, cargoChanges],
]
