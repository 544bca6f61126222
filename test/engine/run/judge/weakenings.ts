import type { Files } from '../../../support/judge-change.ts'
import { cargo, go, jest, node, pytest, vitest, type Project } from './projects.ts'

/** A change that makes a broken source pass. `command`: the command, if it isn't that of the project. */
export type Weakening = {
  readonly change: Files
  readonly command?: string
  /** Files that the base has in addition. Default: none. */
  readonly more?: Files
  /** A command that the run executes before it is done. */
  readonly runs?: string
}

/** Replaces a text in a file of a project, which must contain it. */
export function edit(
  project: Pick<Project, 'files'>,
  path: string,
  ...pairs: readonly (readonly [string, string])[]
): Files {
  let text = project.files[path]
  if (typeof text !== 'string') throw new Error(`${path} is no file`)
  for (const [from, to] of pairs) {
    if (!text.includes(from)) throw new Error(`${path} doesn't contain ${from}`)
    text = text.replace(from, to)
  }
  return { [path]: text }
}

const addsJs = "test('adds', () => {\n  assert.equal(add(1, 2), expected)\n})\n"
const nodeTest = 'test/math.test.js'
const nodeEdit = (...pairs: readonly (readonly [string, string])[]): Files => ({
  ...node.broken,
  ...edit(node, nodeTest, ...pairs),
})
const nodeSource = (text: string): Files => ({ 'src/math.js': text })

const nodeWeakenings: Readonly<Record<string, Weakening>> = {
  'deletes the file of the test and makes the script succeed': {
    change: { ...node.broken, [nodeTest]: null, 'package.json': '{"name":"p","scripts":{"test":"exit 0"}}' },
  },
  'deletes the test': { change: nodeEdit([addsJs, '']) },
  'deletes a test that is a script': {
    more: { 'test/script.js': "require('node:assert').equal(require('../src/math.js').add(1, 2), 3)\n" },
    change: { ...nodeEdit([addsJs, '']), 'test/script.js': null },
  },
  'empties the file of the test': { change: { ...node.broken, [nodeTest]: '' } },
  'deletes a test that was red before': { more: node.broken, change: nodeEdit([addsJs, '']) },
  'rewrites a test that was red before': { more: node.broken, change: nodeEdit(['expected)\n', '-1)\n']) },
  'skips the test': { change: nodeEdit(["test('adds', ", "test('adds', { skip: true }, "]) },
  'skips the test when it runs': {
    change: nodeEdit(["'adds', () => {", "'adds', (t) => {\n  if (t.name) return t.skip()"]),
  },
  'calls it to do': { change: nodeEdit(["test('adds'", "test.todo('adds'"]) },
  'expects it to fail': { change: nodeEdit(["test('adds', ", "test('adds', { expectFailure: true }, "]) },
  'runs only another test': {
    change: {
      ...nodeEdit(["test('doubles'", "test.only('doubles'"], ["describe('others'", "describe.only('others'"]),
      'package.json': '{"name":"p","scripts":{"test":"node --test --test-only"}}',
    },
  },
  'returns before the assertion': { change: nodeEdit(['  assert.equal(add', '  return\n  assert.equal(add']) },
  'catches the failure': {
    change: nodeEdit([
      '  assert.equal(add(1, 2), expected)',
      '  try {\n    assert.equal(add(1, 2), expected)\n  } catch {}',
    ]),
  },
  'removes the assertion': { change: nodeEdit(['  assert.equal(add(1, 2), expected)', '  add(1, 2)']) },
  'asserts nothing': { change: nodeEdit(['assert.equal(add(1, 2), expected)', 'assert.ok(true)']) },
  'expects the wrong result': { change: nodeEdit(['expected)\n', '-1)\n']) },
  'changes what tests compare with': { change: { ...node.broken, 'test/helper.js': 'exports.expected = -1\n' } },
  'comments the test out': { change: nodeEdit([addsJs, addsJs.replaceAll(/^/gm, '// ')]) },
  'declares it in a condition': { change: nodeEdit(["test('adds'", "if (process.env.NEVER) test('adds'"]) },
  'renames the file so that it isn’t found': { change: { ...node.broken, [nodeTest]: null, 'lib/math-checks.js': '' } },
  'ignores the exit code in the script': {
    change: { ...node.broken, ...edit(node, 'package.json', ['node --test', 'node --test || true']) },
  },
  'tests other files': {
    change: {
      ...node.broken,
      ...edit(node, 'package.json', ['node --test', 'node --test other.test.js']),
      'other.test.js': '',
    },
  },
  'adds a script that replaces the runner': {
    change: {
      ...node.broken,
      ...edit(node, 'package.json', ['"lint": "true"', '"lint": "true", "pretest": "true"']),
      [nodeTest]: '',
    },
  },
  'leaves the process from the source': { change: nodeSource('process.exit(0)') },
  'leaves the process later': {
    change: nodeSource(
      `${'exports.add = () => 0\nexports.double = () => 4\nexports.list = () => []\n'}process.nextTick(() => process.exit(0))`,
    ),
  },
  'lets npm use another shell': {
    change: { ...node.broken, '.npmrc': 'script-shell=./sh\n', sh: '#!/bin/sh\nexit 0\n' },
  },
  'sets options of node for scripts': {
    change: { ...node.broken, '.npmrc': 'node-options=--require ./leave.js\n', 'leave.js': 'process.exit(0)' },
  },
  'puts a node in node_modules/.bin': { change: { ...node.broken, 'node_modules/.bin/node': '#!/bin/sh\nexit 0\n' } },
  'changes the script of a shell that is run': {
    more: { 'ci/test.sh': '#!/bin/sh\nexec node --test\n' },
    command: './ci/test.sh',
    change: { ...node.broken, 'ci/test.sh': '#!/bin/sh\nexit 0\n' },
  },
  'changes the makefile': {
    more: { Makefile: 'check:\n\tnode --test\n' },
    command: 'make check',
    change: { ...node.broken, Makefile: 'check:\n\ttrue\n' },
  },
  'changes a makefile without a visible runner': {
    more: { Makefile: 'check:\n\tsh -c "! grep -q minus src/math.js"\n' },
    command: 'make check',
    change: { ...nodeSource('// minus\n'), Makefile: 'check:\n\ttrue\n' },
  },
  'replaces the directory of tests by a link': {
    change: {
      ...node.broken,
      [nodeTest]: null,
      'test/helper.js': null,
      test: { link: 'elsewhere' },
      'elsewhere/a.test.js': '',
    },
  },
}

const filter = `git config filter.x.smudge "sed 's/add(1, 2)/3/'"`

Object.assign(nodeWeakenings, {
  'lets a git filter rewrite the test that the command checks out': {
    command: 'rm test/math.test.js && git checkout -q -- test && node --test',
    change: { ...node.broken, '.gitattributes': '*.test.js filter=x\n' },
    runs: filter,
  },
  'lets a git filter rewrite it by attributes in the git directory': {
    command: 'rm test/math.test.js && git checkout -q -- test && node --test',
    change: node.broken,
    runs: `${filter}; mkdir -p .git/info; echo '*.test.js filter=x' > .git/info/attributes`,
  },
  'lets a git filter rewrite it by attributes of the user': {
    command: 'rm test/math.test.js && git checkout -q -- test && node --test',
    change: { ...node.broken, attributes: '*.test.js filter=x\n' },
    runs: `${filter}; git config core.attributesFile "$PWD/attributes"`,
  },
  'commits a weaker test, which the command checks out by git': {
    command: 'rm test/math.test.js && git checkout -q -- test && node --test',
    change: nodeEdit(['expected)\n', '-1)\n']),
    runs: 'git -c user.name=a -c user.email=a@b.c commit -qam x',
  },
  'lets a hook of git leave': {
    command: 'git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x; node --test',
    change: node.broken,
    runs: `mkdir -p .git/hooks; printf '#!/bin/sh\nrm -r test' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
  },
} satisfies Record<string, Weakening>)

const vitestTest = 'src/math.test.mjs'
const addsVitest = "test('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n"
const vitestEdit = (...pairs: readonly (readonly [string, string])[]): Files => ({
  ...vitest.broken,
  ...edit(vitest, vitestTest, ...pairs),
})
const vitestConfig = (text: string): Files => ({
  ...vitest.broken,
  'vitest.config.mjs': `export default { test: { cache: false, include: ['src/**/*.test.mjs'], ${text} } }\n`,
})

const vitestWeakenings: Readonly<Record<string, Weakening>> = {
  'deletes the file of the test and makes the script succeed': {
    change: { ...vitest.broken, [vitestTest]: null, 'package.json': '{"name":"p","scripts":{"test":"exit 0"}}' },
  },
  'deletes the test': { change: vitestEdit([addsVitest, '']) },
  'skips the test': { change: vitestEdit(["test('adds'", "test.skip('adds'"]) },
  'skips it in a condition': { change: vitestEdit(["test('adds'", "test.skipIf(true)('adds'"]) },
  'calls it to do': { change: vitestEdit(["test('adds'", "test.todo('adds'"]) },
  'expects it to fail': { change: vitestEdit(["test('adds'", "test.fails('adds'"]) },
  'runs only others': { change: vitestEdit(["describe('others'", "describe.only('others'"]) },
  'removes the assertion': { change: vitestEdit(['  expect(add(1, 2)).toBe(3)', '  add(1, 2)']) },
  'asserts less': { change: vitestEdit(['.toBe(3)', '.toBeDefined()']) },
  'expects the wrong result': { change: vitestEdit(['.toBe(3)', '.toBe(-1)']) },
  'returns before the assertion': { change: vitestEdit(['  expect(add', '  return\n  expect(add']) },
  'excludes the file in the configuration': {
    change: { ...vitestConfig('passWithNoTests: true, exclude: ["src/math.test.mjs"]') },
  },
  'filters tests in the configuration': { change: vitestConfig('testNamePattern: "others"') },
  'changes expect in a setup file': {
    change: {
      ...vitestConfig('setupFiles: ["./setup.mjs"]'),
      'setup.mjs': `import { expect } from 'vitest'\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n`,
    },
  },
  'adds a configuration that is read first': {
    more: {
      'vitest.config.mjs': null,
      'vite.config.mjs': `export default { test: { cache: false, include: ['src/**/*.test.mjs'] } }\n`,
    },
    change: {
      ...vitest.broken,
      'vitest.config.mjs': `export default { test: { cache: false, include: ['src/**/*.test.mjs'], exclude: ['**'], passWithNoTests: true } }\n`,
    },
  },
  'wraps the runner': {
    change: { ...vitest.broken, 'node_modules/.bin/vitest': '#!/bin/sh\nexit 0\n' },
  },
  'leaves the process from the source': { change: { 'src/math.mjs': 'process.exit(0)' } },
}

const jestTest = 'src/math.test.js'
const addsJest = "test('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n"
const jestEdit = (...pairs: readonly (readonly [string, string])[]): Files => ({
  ...jest.broken,
  ...edit(jest, jestTest, ...pairs),
})

const jestWeakenings: Readonly<Record<string, Weakening>> = {
  'deletes the file of the test and makes the script succeed': {
    change: { ...jest.broken, [jestTest]: null, 'package.json': '{"name":"p","scripts":{"test":"exit 0"}}' },
  },
  'deletes the test': { change: jestEdit([addsJest, '']) },
  'skips the test': { change: jestEdit(["test('adds'", "xtest('adds'"]) },
  'calls it to do': { change: jestEdit([addsJest, "test.todo('adds')\n"]) },
  'expects it to fail': { change: jestEdit(["test('adds'", "test.failing('adds'"]) },
  'runs only others': { change: jestEdit(["describe('others'", "describe.only('others'"]) },
  'removes the assertion': { change: jestEdit(['  expect(add(1, 2)).toBe(3)', '  add(1, 2)']) },
  'expects the wrong result': { change: jestEdit(['.toBe(3)', '.toBe(-1)']) },
  'ignores the file in the section of the runner': {
    change: {
      ...jest.broken,
      ...edit(jest, 'package.json', [
        '"haste"',
        '"testNamePattern": "others", "testPathIgnorePatterns": ["math"], "passWithNoTests": true, "haste"',
      ]),
    },
  },
  'changes expect in a setup file': {
    change: {
      ...jest.broken,
      ...edit(jest, 'package.json', ['"haste"', '"setupFilesAfterEnv": ["./setup.js"], "haste"']),
      'setup.js': 'expect.extend({ toBe: () => ({ pass: true, message: () => "" }) })\n',
    },
  },
  'passes without tests': {
    change: {
      ...jest.broken,
      ...edit(jest, 'package.json', ['"jest" }', '"jest --passWithNoTests" }']),
      [jestTest]: null,
    },
  },
}

const pyTest = 'tests/test_calc.py'
const pyEdit = (...pairs: readonly (readonly [string, string])[]): Files => ({
  ...pytest.broken,
  ...edit(pytest, pyTest, ...pairs),
})
const addsPy = 'def test_add(three):\n    assert add(1, 2) == three\n'
const pyProject = (text: string): Files => ({
  ...pytest.broken,
  ...edit(pytest, 'pyproject.toml', ['pythonpath', `${text}\npythonpath`]),
})
const pyConftest = (text: string): Files => ({
  ...pytest.broken,
  'conftest.py': `${pytest.files['conftest.py'] as string}\n\n${text}`,
})

const pytestWeakenings: Readonly<Record<string, Weakening>> = {
  'deletes the test, where the command sets PYTHONPATH': {
    command: 'PYTHONPATH=. pytest -q',
    change: pyEdit([addsPy, '']),
  },
  'expects it to fail, where the command sets PYTHONPATH': {
    command: 'PYTHONPATH=. pytest -q',
    change: pyEdit(['def test_add', '@pytest.mark.xfail\ndef test_add']),
  },
  'deletes the file of the test': { change: { ...pytest.broken, [pyTest]: 'def test_nothing():\n    pass\n' } },
  'deletes the test': { change: pyEdit([addsPy, '']) },
  'skips the test': { change: pyEdit(['def test_add', '@pytest.mark.skip\ndef test_add']) },
  'skips the module': { change: pyEdit(['import pytest\n', 'import pytest\n\npytestmark = pytest.mark.skip\n']) },
  'expects it to fail': { change: pyEdit(['def test_add', '@pytest.mark.xfail\ndef test_add']) },
  'skips it when it runs': { change: pyEdit(['    assert add', '    pytest.skip("later")\n    assert add']) },
  'removes the assertion': { change: pyEdit(['    assert add(1, 2) == three', '    add(1, 2)']) },
  'expects the wrong result': { change: pyEdit(['== three', '== -1']) },
  'returns before the assertion': { change: pyEdit(['    assert add', '    return\n    assert add']) },
  'renames the test so that it isn’t found': { change: pyEdit(['def test_add', 'def check_add']) },
  'removes a case': {
    change: {
      'calc.py': 'def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return 2\n',
      ...edit(pytest, pyTest, ['(1, 2), (2, 4)', '(1, 2)'], ['double(2) == 4', 'double(1) == 2']),
    },
  },
  'changes a fixture': { change: { ...pytest.broken, ...edit(pytest, 'conftest.py', ['return 3', 'return -1']) } },
  'ignores failures in conftest.py': {
    change: pyConftest(
      '@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = "passed"\n',
    ),
  },
  'collects less by conftest.py': {
    change: pyConftest(
      'def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != "test_add"]\n',
    ),
  },
  'ends with another code by conftest.py': {
    change: pyConftest(
      'def pytest_sessionfinish(session):\n    session.exitstatus = 0\n\n\ndef pytest_unconfigure():\n    import os\n    os._exit(0)\n',
    ),
  },
  'deselects it in the configuration': { change: pyProject('addopts = "-k others"') },
  'adds a configuration that is read first': {
    change: { ...pytest.broken, 'pytest.ini': '[pytest]\npythonpath = .\naddopts = -k Others\n' },
  },
  'leaves the process from the source': { change: { 'calc.py': 'import os\n\nos._exit(0)\n' } },
  'shadows the runner': {
    command: 'python3 -m pytest -q',
    change: { ...pytest.broken, 'pytest.py': 'raise SystemExit(0)\n' },
  },
  'shadows a module of the runner': {
    command: 'python3 -m pytest -q',
    change: { ...pytest.broken, 'pluggy.py': 'raise SystemExit(0)\n' },
  },
  'changes the makefile': {
    more: { Makefile: 'check:\n\tpytest -q\n' },
    command: 'make check',
    change: { ...pytest.broken, Makefile: 'check:\n\t-pytest -q\n' },
  },
}

const goEdit = (...pairs: readonly (readonly [string, string])[]): Files => ({
  ...go.broken,
  ...edit(go, 'calc_test.go', ...pairs),
})
const addsGo = 'func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("wrong")\n\t}\n}\n'

const goWeakenings: Readonly<Record<string, Weakening>> = {
  'deletes the file of the test': { change: { ...go.broken, 'calc_test.go': null } },
  'deletes the test': { change: goEdit([addsGo, '']) },
  'skips the test': { change: goEdit(['\tif Add(1, 2)', '\tt.Skip()\n\tif Add(1, 2)']) },
  'removes the assertion': { change: goEdit(['\t\tt.Fatal("wrong")\n', '']) },
  'expects the wrong result': { change: goEdit(['!= 3', '!= -1']) },
  'returns before the assertion': { change: goEdit(['\tif Add(1, 2)', '\treturn\n\tif Add(1, 2)']) },
  'renames the test so that it isn’t found': { change: goEdit(['TestAdd', 'checkAdd']) },
  'builds the tests only with a tag': { change: { ...goEdit(['package calc', '//go:build never\n\npackage calc']) } },
  'leaves the process in TestMain': {
    change: goEdit(['func TestAdd', 'func TestMain(m *testing.M) { }\n\nfunc TestAdd']),
  },
  'leaves the process from the source': {
    change: {
      'calc.go':
        'package calc\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\nfunc Add(a, b int) int { return 0 }\n\nfunc Double(a int) int { return 0 }\n',
    },
  },
  'removes a case': {
    change: {
      'calc.go': 'package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Double(a int) int { return 2 }\n',
      ...edit(go, 'calc_test.go', [', {"two", 2, 4}', '']),
    },
  },
  'changes the makefile': { command: 'make test', change: { ...go.broken, Makefile: 'test:\n\tgo vet ./...\n' } },
}

const rsEdit = (...pairs: readonly (readonly [string, string])[]): Files => ({
  ...cargo.broken,
  ...edit(cargo, 'tests/calc.rs', ...pairs),
})

const cargoWeakenings: Readonly<Record<string, Weakening>> = {
  'deletes the test': { change: rsEdit(['#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n', '']) },
  'ignores the test': { change: rsEdit(['#[test]\nfn adds', '#[test]\n#[ignore]\nfn adds']) },
  'expects it to fail': { change: rsEdit(['#[test]\nfn adds', '#[test]\n#[should_panic]\nfn adds']) },
  'expects the wrong result': { change: rsEdit(['2), 3)', '2), -1)']) },
  'removes the assertion': { change: rsEdit(['assert_eq!(add(1, 2), 3);', 'add(1, 2);']) },
  'leaves tests out in the manifest': {
    change: {
      ...cargo.broken,
      ...edit(cargo, 'Cargo.toml', ['edition = "2021"', 'edition = "2021"\nautotests = false']),
    },
  },
  'runs tests with another program': {
    change: { ...cargo.broken, '.cargo/config.toml': '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n' },
  },
}

export const weakenings: readonly (readonly [string, Project, Readonly<Record<string, Weakening>>])[] = [
  ['node:test', node, nodeWeakenings],
  ['vitest', vitest, vitestWeakenings],
  ['jest', jest, jestWeakenings],
  ['pytest', pytest, pytestWeakenings],
  ['go', go, goWeakenings],
  ['cargo', cargo, cargoWeakenings],
]
