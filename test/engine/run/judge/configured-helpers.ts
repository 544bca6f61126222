import type { Configured } from './configured.ts'
import { cargo, go, node, pytest } from './projects.ts'

const nodeTest = node.files['test/math.test.js'] as string
const withHelper = nodeTest.replace('assert.equal(add(', "require('../support/equal').equal(add(")
const equal = "exports.equal = require('assert').equal\n"
const goTest = go.files['calc_test.go'] as string
const goCheck = 'func mustBe(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
const cargoTest = cargo.files['tests/calc.rs'] as string

const helperCrate = {
  'Cargo.toml': `${cargo.files['Cargo.toml'] as string}\n[dev-dependencies]\nchecks = { path = "checks" }\n`,
  'Cargo.lock':
    'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\ndependencies = [\n "checks",\n]\n\n[[package]]\nname = "checks"\nversion = "0.1.0"\n',
  'checks/Cargo.toml': '[package]\nname = "checks"\nversion = "0.1.0"\nedition = "2021"\n',
  'checks/src/lib.rs': 'pub fn equal(a: i32, b: i32) {\n    assert_eq!(a, b);\n}\n',
  'tests/calc.rs': cargoTest.replace('assert_eq!(add(1, 2), 3)', 'checks::equal(add(1, 2), 3)'),
}

/** By a helper that only tests import, but that is in no directory of tests. */
export const configuredHelpers: Readonly<Record<string, Configured>> = {
  'a helper that imports a source of a package with an entry point': {
    project: node,
    more: {
      'package.json': '{ "name": "p", "main": "src/math.js", "scripts": { "test": "node --test" } }\n',
      'support/equal.js': `require('../src/math.js')\n${equal}`,
      'test/math.test.js': withHelper,
    },
    change: { ...node.broken, 'support/equal.js': 'exports.equal = () => undefined\n' },
  },
  'a file that hides the directory of a helper': {
    project: node,
    more: { 'support/equal/index.js': equal, 'test/math.test.js': withHelper },
    change: { ...node.broken, 'support/equal.js': 'exports.equal = () => undefined\n' },
  },
  'an alias that leads to a copy': {
    project: node,
    more: {
      'package.json':
        '{ "name": "p", "imports": { "#math": "./src/math.js" }, "scripts": { "test": "node --test" } }\n',
      'test/math.test.js': nodeTest.replace('../src/math.js', '#math'),
    },
    change: {
      ...node.broken,
      'src/copy.js': node.files['src/math.js'] as string,
      'package.json':
        '{ "name": "p", "imports": { "#math": "./src/copy.js" }, "scripts": { "test": "node --test" } }\n',
    },
  },
  'a base class of tests, exit code only': {
    project: pytest,
    command: 'python3 -m unittest discover -s tests -t .',
    more: {
      'tests/__init__.py': '',
      'tests/test_calc.py':
        'from calc import add\nfrom support.case import Case\n\n\nclass TestCalc(Case):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n',
      'support/__init__.py': '',
      'support/case.py': 'import unittest\n\n\nclass Case(unittest.TestCase):\n    pass\n',
    },
    change: {
      ...pytest.broken,
      'support/case.py':
        'import unittest\n\n\nclass Case(unittest.TestCase):\n    def assertEqual(self, a, b):\n        pass\n',
    },
  },
  'a helper of go in the package that is tested': {
    project: go,
    more: {
      'helpers.go': `package calc\n\nimport "testing"\n\n${goCheck}`,
      'calc_test.go': goTest.replace('if Add(1, 2) != 3 {\n\t\tt.Fatal("wrong")\n\t}', 'mustBe(t, Add(1, 2), 3)'),
    },
    change: { ...go.broken, 'helpers.go': 'package calc\n\nfunc mustBe(_ any, a, b int) {}\n' },
  },
  'a file of cases that a test of go embeds': {
    project: go,
    more: {
      'cases.txt': '3',
      'calc_test.go':
        'package calc\n\nimport (\n\t_ "embed"\n\t"strconv"\n\t"testing"\n)\n\n//go:embed cases.txt\nvar cases string\n\nfunc TestAdd(t *testing.T) {\n\tif strconv.Itoa(Add(1, 2)) != cases {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
    },
    change: { ...go.broken, 'cases.txt': '-1' },
  },
  'a crate of helpers': {
    project: cargo,
    more: helperCrate,
    change: { ...cargo.broken, 'checks/src/lib.rs': 'pub fn equal(_a: i32, _b: i32) {}\n' },
  },
  'another crate of helpers': {
    project: cargo,
    more: helperCrate,
    change: {
      ...cargo.broken,
      'Cargo.toml': helperCrate['Cargo.toml'].replace('path = "checks"', 'path = "others"'),
      'others/Cargo.toml': helperCrate['checks/Cargo.toml'],
      'others/src/lib.rs': 'pub fn equal(_a: i32, _b: i32) {}\n',
    },
  },
}
