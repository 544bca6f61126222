import { expect, test } from 'vitest'
import { judgedApart, variantsOf } from '../../../../engine/run/judge/judged-apart.ts'

const isTest = (path: string): boolean => /test/.test(path)

/** What is judged apart if a command runs and every file has changed, and some are new. */
function apartIn(files: Readonly<Record<string, string>>, command: string, entries = '', added: typeof files = {}) {
  const paths = [...Object.keys(files), ...Object.keys(added)]
  const { named, groups } = judgedApart(
    paths.filter((path) => !isTest(path)),
    [{ folder: '', text: command }],
    {
      files: Object.keys(files),
      cwd: '',
      read: (path) => files[path],
      readNew: (path) => added[path],
      targetOf: () => undefined,
      hasTests: isTest,
      isTest,
      isSource: (path) => !isTest(path),
      entries: [{ folder: '', text: entries }],
    },
  )
  return [named, ...groups]
}

test('what a command names is judged apart, and so is what only that imports', () => {
  const files = {
    'tools/setup.js': "require('./a')\nrequire('../lib')",
    'tools/a.mjs': "import '/tools/b.mjs'",
    'tools/b.mjs': '',
    'lib/index.js': '',
    'src/a.js': "require('./b')",
    'src/b.js': '',
  }
  expect(apartIn(files, 'runner --setup ./tools/setup.js')).toEqual([
    ['tools/setup.js'],
    ['tools/a.mjs', 'tools/b.mjs'],
    ['lib/index.js'],
  ])
})

test('what the package or a source without tests imports is judged only as it is', () => {
  const files = {
    'README.md': "import check from './lib/check.js'",
    'lib/check.js': "require('./equal')",
    'lib/equal.js': '',
    'lib/db.js': '',
    'lib/pool.js': '',
    'lib/main.js': "require('./pool')",
    'lib/start.js': "require('./db')",
    'a.test.js': "require('./lib/check')\nrequire('./lib/db')\nrequire('./lib/main')",
  }
  const entries = '{"main":"./lib/main.js"}'
  expect(apartIn(files, 'runner', entries)).toEqual([[], ['lib/check.js', 'lib/equal.js']])
})

test('files of which one needs the other are in one group, in each language', () => {
  const js = {
    'a.js': "import './b.js'",
    'b.js': '',
    'c.js': '',
    'x.test.js': "import './a.js'\nimport './b.js'\nimport { d } from './c.js'",
  }
  expect(apartIn(js, 'runner')).toEqual([[], ['a.js', 'b.js'], ['c.js']])
  const python = {
    'src/calc/__init__.py': 'from .core import add',
    'src/calc/core.py': '',
    'src/helpers.py': 'equal = None',
    'tests/test_calc.py': 'from calc import add\nimport helpers',
  }
  expect(apartIn(python, 'pytest')).toEqual([[], ['src/calc/__init__.py', 'src/calc/core.py'], ['src/helpers.py']])
  const go = {
    'calc.go': 'package calc\nfunc Add(a, b int) int { return sum(a, b) }',
    'sum.go': 'package calc\nfunc sum(a, b int) int { return a + b }',
    'helpers.go': 'package calc\nfunc (t T) mustBe(a int) {}',
    'internal/check/check.go': 'package check',
    'calc_test.go': 'import "example.com/calc/internal/check"\nfunc TestAdd() { T{}.mustBe(Add(1, 2)) }',
  }
  const goGroups = [[], ['calc.go', 'sum.go'], ['helpers.go'], ['internal/check/check.go']]
  expect(apartIn(go, 'go test ./...')).toEqual(goGroups)
  const moved = { 'moved.go': 'package calc\nfunc sum(a, b int) int { return b + a }' }
  const movedGroups = [[], ['helpers.go'], ['internal/check/check.go'], ['calc.go', 'sum.go', 'moved.go']]
  expect(apartIn(go, 'go test ./...', '', moved)).toEqual(movedGroups)
  const rust = {
    'checks/src/lib.rs': 'mod equal;',
    'checks/src/equal.rs': '',
    'support/check.rs': '',
    'src/lib.rs': '',
    'tests/calc.rs': '#[path = "../support/check.rs"]\nmod check;\nuse checks::equal;',
  }
  expect(apartIn(rust, 'cargo test')).toEqual([[], ['checks/src/lib.rs', 'checks/src/equal.rs'], ['support/check.rs']])
})

test('each group is seen with the old version of each other', () => {
  expect([variantsOf([], true), variantsOf([['a']], false), variantsOf([['a']], true)]).toEqual([[], [], [[['a']]]])
  expect(variantsOf([['a'], ['b', 'c']], false)).toEqual([[['a'], ['b', 'c']]])
  const groups = Array.from({ length: 9 }, (_, at) => [`${at}`])
  const variants = variantsOf(groups, true).flat()
  expect(variants).toHaveLength(9)
  for (const [old] of groups) {
    for (const [other] of groups) {
      if (old === other) continue
      expect(variants.some((each) => each.includes(old as string) && !each.includes(other as string))).toBe(true)
    }
  }
})
