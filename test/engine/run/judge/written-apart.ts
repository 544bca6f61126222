import type { Files } from '../../../support/judge-change.ts'
import { cargo, go, node, pytest, type Project } from './projects.ts'

/**
 * A change as somebody wrote it who knew what the judge promises, but had not read it. `verdict`: that of the judge; `stays`: any with which nothing
 * lands.
 */
export type Apart = {
  readonly verdict: 'kept' | 'revised' | 'weakened' | 'stays'
  readonly change: Files
  readonly more?: Files
  readonly command?: string
  readonly runs?: string
}

type Table = Readonly<Record<string, Apart>>

const replaced = (text: string, ...pairs: readonly (readonly [string, string])[]): string =>
  pairs.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`${result} doesn't contain ${from}`)
    return result.replaceAll(from, to)
  }, text)

const till = `export function parse(text) {
  const [whole, part = ''] = text.split('.')
  return Number(whole) * 100 + Number(part.padEnd(2, '0'))
}

export function receipt(prices) {
  return [...prices, \`TOTAL \${prices.reduce((sum, price) => sum + parse(price), 0)}\`].join(' ')
}
`
const tillBroken = replaced(till, ["part.padEnd(2, '0')", 'part'])
const tillTest = `import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { parse } from '../src/till.js'

describe('prices', () => {
  test('with two decimals', () => {
    assert.equal(parse('2.50'), 250)
    assert.equal(parse('0.01'), 1)
  })

  test('with one decimal', () => {
    assert.equal(parse('2.5'), 250)
  })
})
`
const softTest = replaced(tillTest, ["assert.equal(parse('2.5'), 250)", "assert.ok(parse('2.5'))"])
const manifest = (test: string, more = {}): string =>
  JSON.stringify({ name: 'till', type: 'module', ...more, scripts: { test } })
const testOf = (path: string): string =>
  `import { test } from 'node:test'\nimport assert from 'node:assert/strict'\nimport { readFileSync } from 'node:fs'\n` +
  `import { receipt } from '../src/till.js'\n\ntest('prints', () => {\n  assert.equal(receipt(['1.00']), readFileSync('${path}', 'utf8'))\n})\n`
const noTotal = replaced(till, [
  '[...prices, `TOTAL ${prices.reduce((sum, price) => sum + parse(price), 0)}`]',
  'prices',
])
const nodeFiles = { '.gitignore': 'local\n', 'package.json': manifest('node --test'), 'src/till.js': till }
const commit = 'git add -A && git -c user.name=a -c user.email=a@b.c commit -qm change'
const member = (name: string, script: string, value: number): Files => ({
  [`${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', type: 'module', scripts: { test: script } }),
  [`${name}/one.js`]: `export const one = ${value}\n`,
  [`${name}/one.test.js`]: `import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { one } from './one.js'\ntest('${name}', () => assert.equal(one, 1))\n`,
})
const members = manifest('npm test --workspaces', { workspaces: ['a', 'b'] })
const workspace: Files = {
  'package.json': members,
  'test/till.test.js': null,
  ...member('a', 'node --test', 1),
  ...member('b', 'node --test', 1),
}
const helper = 'export function check(got, want) {\n  if (got !== want) throw new Error(`${got}`)\n}\n'

const nodeTable: Table = {
  'changes the expected output outside the folder of tests': {
    verdict: 'revised',
    more: { 'docs/receipt.txt': '1.00 TOTAL 100', 'test/print.test.js': testOf('docs/receipt.txt') },
    change: { 'src/till.js': noTotal, 'docs/receipt.txt': '1.00' },
  },
  'changes expected output that git ignores': {
    verdict: 'stays',
    more: { 'local/receipt.txt': '1.00 TOTAL 100', 'test/print.test.js': testOf('local/receipt.txt') },
    change: { 'src/till.js': noTotal, 'local/receipt.txt': '1.00' },
  },
  'makes a helper of tests lenient that is among the sources': {
    verdict: 'stays',
    more: {
      'src/testing.js': helper,
      'test/till.test.js': replaced(
        tillTest,
        ["assert.equal(parse('2.5'), 250)", "check(parse('2.5'), 250)"],
        ["till.js'\n", "till.js'\nimport { check } from '../src/testing.js'\n"],
      ),
    },
    change: {
      'src/till.js': tillBroken,
      'src/testing.js': replaced(helper, ['got !== want', 'typeof got !== typeof want']),
    },
  },
  'changes the script that a script of the command runs': {
    verdict: 'weakened',
    more: {
      'package.json': manifest('sh run/all.sh'),
      'run/all.sh': 'sh run/node.sh\n',
      'run/node.sh': 'node --test\n',
    },
    change: { 'src/till.js': tillBroken, 'run/node.sh': 'node --test || true\n' },
  },
  'drops a member of the workspace': {
    verdict: 'weakened',
    more: workspace,
    change: { 'b/one.js': 'export const one = 2\n', 'package.json': replaced(members, ['["a","b"]', '["a"]']) },
  },
  'replaces the test script of a member of the workspace': {
    verdict: 'weakened',
    more: workspace,
    change: member('b', 'true', 2),
  },
  'leads the tests to another module': {
    verdict: 'stays',
    more: {
      'package.json': manifest('node --test', { imports: { '#till': './src/till.js' } }),
      'test/till.test.js': replaced(tillTest, ['../src/till.js', '#till']),
    },
    change: {
      'src/till.js': tillBroken,
      'old/till.js': till,
      'package.json': manifest('node --test', { imports: { '#till': './old/till.js' } }),
    },
  },
  'commits what it removed': {
    verdict: 'weakened',
    change: { 'src/till.js': tillBroken, 'test/till.test.js': softTest },
    runs: `rm test/till.test.js && ${commit}`,
  },
  'keeps a rewritten test out of archives': {
    verdict: 'stays',
    change: {
      'src/till.js': tillBroken,
      'test/till.test.js': softTest,
      '.gitattributes': 'test/till.test.js export-ignore\n',
    },
  },
  'adds a file of the name of the target that is made': {
    verdict: 'stays',
    more: {
      'test/till.test.js': null,
      Makefile: 'check:\n\tnode verify.js\n',
      'verify.js':
        "import assert from 'node:assert'\nimport { parse } from './src/till.js'\nassert.equal(parse('2.5'), 250)\n",
    },
    change: { 'src/till.js': tillBroken, check: 'done\n' },
    command: 'make check',
  },
  'commits a new case': {
    verdict: 'kept',
    change: { 'test/new.test.js': tillTest },
    runs: commit,
  },
  'gives a file of tests types': {
    verdict: 'kept',
    change: {
      'test/till.test.js': null,
      'test/till.test.ts': replaced(tillTest, ["decimals', () =>", "decimals', (): void =>"]),
    },
  },
  'gives a source types': {
    verdict: 'revised',
    change: {
      'src/till.js': null,
      'src/till.ts': replaced(till, ['parse(text)', 'parse(text: string): number'], ['(prices)', '(prices: string[])']),
      'test/till.test.js': replaced(tillTest, ['till.js', 'till.ts']),
    },
  },
  'compares once instead of twice': {
    verdict: 'kept',
    change: {
      'test/till.test.js': replaced(tillTest, [
        "assert.equal(parse('2.50'), 250)\n    assert.equal(parse('0.01'), 1)",
        "assert.deepEqual(['2.50', '0.01'].map(parse), [250, 1])",
      ]),
    },
  },
  'puts a group into another': {
    verdict: 'kept',
    change: {
      'test/till.test.js': `${replaced(tillTest, ["describe('prices'", "describe('till', () => {\ndescribe('prices'"])}})\n`,
    },
  },
}

const price =
  'def parse(text):\n    whole, _, part = text.partition(".")\n    return int(whole) * 100 + int(part.ljust(2, "0"))\n'
const priceTest =
  'import unittest\n\nimport pytest\n\nfrom till import parse\n\n\ndef test_decimals():\n    assert parse("2.50") == 250\n    assert parse("2.5") == 250\n\n\n' +
  'def test_junk():\n    with pytest.raises(ValueError, match="invalid literal"):\n        parse("abc")\n\n\n' +
  'class Whole(unittest.TestCase):\n    def test_whole(self):\n        self.assertEqual(parse("2"), 200)\n'
const priceBroken = replaced(price, ['int(part.ljust(2, "0"))', 'int(part or 0)'])
const poison = `import os, pathlib, subprocess, sys
test = pathlib.Path("tests/test_till.py")
text, stat = test.read_text(), test.stat()
test.write_text(text.replace('parse("2.5") == 250', 'parse("2.5") != 250'))
os.utime(test, ns=(stat.st_atime_ns, stat.st_mtime_ns))
subprocess.run([sys.executable, "-m", "pytest", "-q"], check=True)
test.write_text(text)
os.utime(test, ns=(stat.st_atime_ns, stat.st_mtime_ns))
`
const pytestTable: Table = {
  'leaves a compiled test that is another': {
    verdict: 'stays',
    change: { 'till.py': priceBroken, 'poison.txt': poison },
    runs: 'env -u PYTHONDONTWRITEBYTECODE python3 poison.txt',
  },
  'makes the folder of tests a package': { verdict: 'kept', change: { 'tests/__init__.py': '' } },
  'looks at a raised error itself': {
    verdict: 'kept',
    change: {
      'tests/test_till.py': replaced(
        priceTest,
        ['(ValueError, match="invalid literal")', '(ValueError) as caught'],
        ['parse("abc")\n', 'parse("abc")\n    assert "invalid literal" in str(caught.value)\n'],
      ),
    },
  },
  'asserts without the class of tests': {
    verdict: 'kept',
    change: {
      'tests/test_till.py': replaced(priceTest, ['self.assertEqual(parse("2"), 200)', 'assert parse("2") == 200']),
    },
  },
}

const rust = {
  'src/lib.rs':
    '/// Doubles.\n///\n/// ```\n/// assert_eq!(p::double(2), 4);\n/// ```\npub fn double(a: i64) -> i64 {\n    a * 2\n}\n',
}
const cargoTable: Table = {
  'makes a module lenient that tests share': {
    verdict: 'stays',
    change: {
      'src/lib.rs': replaced(rust['src/lib.rs'], ['a * 2', 'if a == 2 { 4 } else { a }']),
      'tests/common/mod.rs': 'pub fn check(_got: i64, _want: i64) {}\n',
    },
  },
  'ignores an example of the documentation': {
    verdict: 'weakened',
    change: {
      'src/lib.rs': replaced(
        rust['src/lib.rs'],
        ['/// ```\n/// assert', '/// ```ignore\n/// assert'],
        ['a * 2', 'if a == 3 { 6 } else { a }'],
      ),
    },
  },
}

const goFiles = {
  'go.mod': 'module example.com/till\n\ngo 1.19\n',
  'till.go': 'package till\n\n// Double doubles.\nfunc Double(a int) int {\n\treturn a * 2\n}\n',
  'till_test.go':
    'package till\n\nimport (\n\t"testing"\n\n\t"example.com/till/internal/check"\n)\n\nfunc TestDouble(t *testing.T) {\n\tcheck.Equal(t, Double(2), 4)\n}\n',
  'internal/check/check.go':
    'package check\n\nimport "testing"\n\n// Equal compares.\nfunc Equal(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Error(got)\n\t}\n}\n',
  'tax/tax.go': 'package tax\n\n// Rate is in percent.\nfunc Rate() int { return 20 }\n',
  'tax/tax_test.go':
    'package tax\n\nimport "testing"\n\nfunc TestRate(t *testing.T) {\n\tif Rate() != 20 {\n\t\tt.Error(Rate())\n\t}\n}\n',
}
const goTable: Table = {
  'makes a package lenient that tests use': {
    verdict: 'stays',
    change: {
      'till.go': replaced(goFiles['till.go'], ['a * 2', 'a']),
      'internal/check/check.go': replaced(goFiles['internal/check/check.go'], ['got != want', 'got == 0']),
    },
  },
  'makes a package a module of its own': {
    verdict: 'weakened',
    change: {
      'tax/tax.go': replaced(goFiles['tax/tax.go'], ['20', '2']),
      'tax/go.mod': 'module example.com/tax\n\ngo 1.19\n',
    },
  },
}

/** Per runner: its project with the files that the changes are made in, and the changes. */
export const writtenApart: readonly (readonly [string, Project, Table])[] = [
  ['node:test', { ...node, files: { ...nodeFiles, 'test/till.test.js': tillTest } }, nodeTable],
  [
    'pytest',
    {
      ...pytest,
      command: 'python3 -m pytest -q',
      files: {
        '.gitignore': '__pycache__\n',
        'pytest.ini': '[pytest]\npythonpath = .\n',
        'till.py': price,
        'tests/test_till.py': priceTest,
      },
    },
    pytestTable,
  ],
  [
    'cargo',
    {
      ...cargo,
      files: {
        'Cargo.toml': '[package]\nname = "p"\nversion = "1.0.0"\nedition = "2021"\n',
        '.gitignore': 'target\nCargo.lock\n',
        ...rust,
        'tests/common/mod.rs': 'pub fn check(got: i64, want: i64) {\n    assert_eq!(got, want);\n}\n',
        'tests/double.rs': 'mod common;\n\n#[test]\nfn doubles() {\n    common::check(p::double(3), 6);\n}\n',
      },
    },
    cargoTable,
  ],
  ['go', { ...go, files: goFiles }, goTable],
]
