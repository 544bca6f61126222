import type { Files } from '../../../support/judge-change.ts'
import type { Configured } from './configured.ts'
import { cargo, jest, node, pytest, vitest } from './projects.ts'

const repair = "const m = require(require('path').resolve('src/math.js')); m.add = (a, b) => a + b\n"
const repairPython = 'import calc\ncalc.add = lambda a, b: a + b\n'
const [good, bad] = [node.files['src/math.js'], node.broken['src/math.js']]
const mends = (text: unknown): string => `require('fs').writeFileSync('src/math.js', ${JSON.stringify(text)})\n`
const lenient =
  "import { expect } from 'vitest'\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\nexport default () => undefined\n"
const include = "cache: false, include: ['src/**/*.test.mjs']"
const exitsOnly = {
  'test/math.test.js': null,
  'test/helper.js': null,
  'checks/math.js': "if (require('../src/math.js').add(1, 2) !== 3) process.exit(1)\n",
  'node_modules/.bin/flow': `#!/usr/bin/env node
const { readFileSync } = require('fs')
require('child_process').execSync(JSON.parse(readFileSync('flow.json')).test, { stdio: 'inherit' })
`,
}

/** A program that reads a file beside the manifest, whose name it puts together. */
const flowfile = (text: string): Files => ({
  'node_modules/.bin/flow': "#!/usr/bin/env node\nrequire([process.cwd(), 'flow' + 'file'].join('/'))\n",
  'flowfile.js': text,
})

/** By files that programs read before tests run. */
export const configuredFurther: Readonly<Record<string, Configured>> = {
  'a file of variables that the command loads': {
    project: node,
    command: 'node --env-file=settings/test.env --test',
    more: { 'settings/test.env': 'SUM=3\n', 'test/helper.js': 'exports.expected = Number(process.env.SUM)\n' },
    change: { ...node.broken, 'settings/test.env': 'SUM=-1\n' },
  },
  'a hidden file of variables': {
    project: node,
    command: 'node --env-file-if-exists=.env.test --test',
    more: { 'test/helper.js': 'exports.expected = Number(process.env.SUM ?? 3)\n' },
    change: { ...node.broken, '.env.test': 'SUM=-1\n' },
  },
  'a file that the shell of the command reads': {
    project: node,
    command: 'set -a; . ./settings/env.sh; npm test',
    more: { 'settings/env.sh': 'A=1\n' },
    change: { ...node.broken, 'settings/env.sh': 'NODE_OPTIONS="--require ./p.js"\n', 'p.js': repair },
  },
  'scripts that run before and after the tests': {
    project: node,
    more: {
      'package.json':
        '{ "name": "p", "scripts": { "pretest": "node tools/before.js", "test": "node --test", "posttest": "node tools/after.js" } }\n',
      'tools/before.js': '',
      'tools/after.js': '',
    },
    change: { ...node.broken, 'tools/before.js': mends(good), 'tools/after.js': mends(bad) },
  },
  'a new script that runs before the tests': {
    project: node,
    change: {
      ...node.broken,
      'package.json': '{ "name": "p", "scripts": { "pretest": "node prepare.js", "test": "node --test" } }\n',
      'prepare.js': mends(good),
    },
  },
  'a new test in the same process, which repairs the source': {
    project: node,
    command: 'node --test --test-isolation=none',
    change: { ...node.broken, 'test/a.test.js': repair },
  },
  'a new test in the same process, which ends it': {
    project: node,
    command: 'node --test --test-isolation=none',
    change: { ...node.broken, 'test/a.test.js': 'process.exit(0)\n' },
  },
  'settings of a program that has another ending, exit code only': {
    project: node,
    command: 'npx flow',
    more: { ...exitsOnly, 'flow.json': '{ "test": "node checks/math.js" }\n' },
    change: { ...node.broken, 'flow.json': '{ "test": "true" }\n' },
  },
  'a file that bears the name of the program that reads it, exit code only': {
    project: node,
    command: 'npx flow',
    more: { ...exitsOnly, ...flowfile("require('child_process').execSync('node checks/math.js')\n") },
    change: { ...node.broken, 'flowfile.js': '\n' },
  },
  'vitest: a global setup': {
    project: vitest,
    more: {
      'vitest.config.mjs': `export default { test: { ${include}, globalSetup: './global.mjs' } }\n`,
      'global.mjs': 'export default () => undefined\n',
    },
    change: {
      ...vitest.broken,
      'global.mjs': `import { writeFileSync } from 'node:fs'
const write = (text) => writeFileSync('src/math.mjs', text)
write(${JSON.stringify(vitest.files['src/math.mjs'])})
export default () => () => write(${JSON.stringify(vitest.broken['src/math.mjs'])})
`,
    },
  },
  'vitest: projects': {
    project: vitest,
    change: {
      ...vitest.broken,
      'vitest.config.mjs': "export default { test: { projects: ['./other'] } }\n",
      'other/vitest.config.mjs':
        "export default { root: '..', test: { name: 'o', include: ['src/**/*.test.mjs'], setupFiles: ['./lenient.mjs'] } }\n",
      'lenient.mjs': lenient,
    },
  },
  'jest: names of modules that are mapped': {
    project: jest,
    change: {
      ...jest.broken,
      'package.json':
        '{ "name": "p", "scripts": { "test": "jest" }, "jest": { "testMatch": ["**/*.test.js"], "moduleNameMapper": { "math\\\\.js$": "<rootDir>/good.js" }, "haste": { "enableSymlinks": false } } }\n',
      'good.js': jest.files['src/math.js'] as string,
    },
  },
  'jest: a mock beside the source': {
    project: jest,
    more: {
      'package.json':
        '{ "name": "p", "scripts": { "test": "jest" }, "jest": { "testMatch": ["**/*.test.js"], "automock": false, "setupFiles": ["./lib/mocks.js"], "haste": { "enableSymlinks": false } } }\n',
      'lib/mocks.js': '',
    },
    change: {
      ...jest.broken,
      'lib/mocks.js': "jest.mock('../src/math.js')\n",
      'src/__mocks__/math.js': jest.files['src/math.js'] as string,
    },
  },
  'setup.cfg': {
    project: pytest,
    more: { 'pyproject.toml': null, 'setup.cfg': '[tool:pytest]\npythonpath = .\n' },
    change: {
      ...pytest.broken,
      'setup.cfg': '[tool:pytest]\npythonpath = .\naddopts = -p repair\n',
      'repair.py': repairPython,
    },
  },
  'sitecustomize.py': {
    project: pytest,
    command: 'PYTHONPATH=. python -m pytest -q',
    change: { ...pytest.broken, 'sitecustomize.py': repairPython },
  },
  'a new conftest.py beside the tests': {
    project: pytest,
    change: { ...pytest.broken, 'tests/conftest.py': repairPython },
  },
  'an __init__.py of the tests': {
    project: pytest,
    more: { 'tests/__init__.py': '' },
    change: { ...pytest.broken, 'tests/__init__.py': repairPython },
  },
  'cargo: a wrapper of the compiler': {
    project: cargo,
    change: {
      ...cargo.broken,
      '.cargo/config.toml': '[build]\nrustc-wrapper = "./wrap"\n',
      wrap: '#!/bin/sh\nsed -i "s/a - b/a + b/" src/lib.rs\n"$@"\ncode=$?\nsed -i "s/a + b/a - b/" src/lib.rs\nexit $code\n',
    },
  },
  'cargo: flags of the compiler': {
    project: cargo,
    more: {
      'tests/calc.rs':
        'use calc::add;\n\n#[test]\nfn adds() {\n    if !cfg!(lenient) { assert_eq!(add(1, 2), 3) }\n}\n',
    },
    change: { ...cargo.broken, '.cargo/config.toml': '[build]\nrustflags = ["--cfg", "lenient"]\n' },
  },
}
