import process from 'node:process'
import type { Files } from '../../../support/judge-change.ts'
import { cargo, go, jest, node, vitest, type Project } from './projects.ts'

/** A change that breaks the source, and with which the command succeeds because of what the change says about how it runs. */
export type Configured = {
  readonly project: Project
  readonly command?: string
  /** Files of the base in addition to those of the project, or in their place. */
  readonly more?: Files
  readonly change: Files
}

const repair = "const m = require(require('path').resolve('src/math.js')); m.add = (a, b) => a + b\n"
const goCheck =
  'package check\n\nimport "testing"\n\nfunc Equal(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
const goVendor: Files = {
  'go.mod': 'module example.com/calc\n\ngo 1.19\n\nrequire example.com/check v1.0.0\n',
  'vendor/modules.txt': '# example.com/check v1.0.0\n## explicit; go 1.19\nexample.com/check\n',
  'vendor/example.com/check/check.go': goCheck,
  'calc_test.go':
    'package calc\n\nimport (\n\t"testing"\n\n\t"example.com/check"\n)\n\nfunc TestAdd(t *testing.T) { check.Equal(t, Add(1, 2), 3) }\n',
}
const goLocal: Files = {
  ...goVendor,
  'go.mod':
    'module example.com/calc\n\ngo 1.19\n\nrequire example.com/check v1.0.0\n\nreplace example.com/check => ./third/check\n',
  'vendor/modules.txt': null,
  'vendor/example.com/check/check.go': null,
  'third/check/go.mod': 'module example.com/check\n\ngo 1.19\n',
  'third/check/check.go': goCheck,
}
const cargoToml = cargo.files['Cargo.toml'] as string

/** By what decides how a command runs. */
export const configured: Readonly<Record<string, Configured>> = {
  'vitest: a setup file that is there': {
    project: vitest,
    more: {
      'vitest.config.mjs':
        "export default { test: { cache: false, include: ['src/**/*.test.mjs'], setupFiles: ['./vitest.setup.mjs'] } }\n",
      'vitest.setup.mjs': 'globalThis.a = 1\n',
    },
    change: {
      ...vitest.broken,
      'vitest.setup.mjs':
        "import { expect } from 'vitest'\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n",
    },
  },
  'vitest: a module that the configuration imports': {
    project: vitest,
    more: {
      'vitest.config.mjs':
        "import { more } from './build/shared.mjs'\nexport default { test: { cache: false, include: ['src/**/*.test.mjs'], ...more } }\n",
      'build/shared.mjs': 'export const more = {}\n',
    },
    change: {
      ...vitest.broken,
      'build/shared.mjs': "export const more = { setupFiles: ['./s.mjs'] }\n",
      's.mjs': "import { expect } from 'vitest'\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n",
    },
  },
  'node in node_modules/.bin, the first of it': {
    project: node,
    change: {
      ...node.broken,
      'node_modules/.bin/node': `#!/bin/sh\nexec ${process.execPath} --require ./p.js "$@"\n`,
      'p.js': repair,
    },
  },
  'a wrapper on PATH': {
    project: node,
    command: 'PATH="$PWD/bin:$PATH" npm test',
    more: { 'bin/hello': '#!/bin/sh\n' },
    change: {
      ...node.broken,
      'bin/node': `#!/bin/sh\nexec ${process.execPath} --require ./p.js "$@"\n`,
      'p.js': repair,
    },
  },
  'shell script without an ending': {
    project: node,
    command: 'sh run-tests',
    more: { 'run-tests': 'node --test\n' },
    change: { ...node.broken, 'run-tests': 'node --require ./p.js --test\n', 'p.js': repair },
  },
  'shell script by a link': {
    project: node,
    command: './check',
    more: { check: { link: 'scripts/check' }, 'scripts/check': '#!/bin/sh\nnode --test\n' },
    change: { ...node.broken, 'scripts/check': '#!/bin/sh\nnode --require ./p.js --test\n', 'p.js': repair },
  },
  'sourced script': {
    project: node,
    command: './check.sh',
    more: { 'check.sh': '#!/bin/sh\n. ./scripts/env\nnode $OPTS --test\n', 'scripts/env': 'OPTS=\n' },
    change: { ...node.broken, 'scripts/env': 'OPTS="--require ./p.js"\n', 'p.js': repair },
  },
  'a script of node': {
    project: node,
    command: 'node scripts/run.mjs',
    more: {
      'scripts/run.mjs':
        "import { execFileSync } from 'node:child_process'\nexecFileSync('node', ['--test'], { stdio: 'inherit' })\n",
    },
    change: {
      ...node.broken,
      'scripts/run.mjs':
        "import { execFileSync } from 'node:child_process'\nexecFileSync('node', ['--require', './p.js', '--test'], { stdio: 'inherit' })\n",
      'p.js': repair,
    },
  },
  'a script of node, exit code only': {
    project: node,
    command: 'node scripts/run.mjs',
    more: {
      'test/math.test.js': null,
      'test/helper.js': null,
      'scripts/run.mjs': "import m from '../src/math.js'\nif (m.add(1, 2) !== 3) process.exit(1)\n",
    },
    change: {
      ...node.broken,
      'scripts/run.mjs': "import m from '../src/math.js'\nif (m.add(1, 2) === 4) process.exit(1)\n",
    },
  },
  'import that the script names': {
    project: node,
    more: {
      'package.json': '{ "name": "p", "scripts": { "test": "node --require ./hooks.js --test" } }\n',
      'hooks.js': '',
    },
    change: { ...node.broken, 'hooks.js': repair },
  },
  'go vendor': {
    project: go,
    more: goVendor,
    change: {
      ...go.broken,
      'vendor/example.com/check/check.go':
        'package check\n\nimport "testing"\n\nfunc Equal(t *testing.T, a, b int) {}\n',
    },
  },
  'go local replacement': {
    project: go,
    more: goLocal,
    change: {
      ...go.broken,
      'go.mod': (goLocal['go.mod'] as string).replace('third', 'fourth'),
      'fourth/check/go.mod': 'module example.com/check\n\ngo 1.19\n',
      'fourth/check/check.go': 'package check\n\nimport "testing"\n\nfunc Equal(t *testing.T, a, b int) {}\n',
    },
  },
  'go.work': {
    project: go,
    more: goLocal,
    change: {
      ...go.broken,
      'go.work': 'go 1.19\n\nuse .\n\nreplace example.com/check => ./fake\n',
      'fake/go.mod': 'module example.com/check\n\ngo 1.19\n',
      'fake/check.go': 'package check\n\nimport "testing"\n\nfunc Equal(t *testing.T, a, b int) {}\n',
    },
  },
  'Cargo.toml names other tests': {
    project: cargo,
    change: {
      ...cargo.broken,
      'Cargo.toml': `${cargoToml}autotests = false\n\n[[test]]\nname = "calc"\npath = "other/calc.rs"\n`,
      'other/calc.rs': '#[test]\nfn adds() {}\n\n#[test]\nfn doubles() {}\n',
    },
  },
  'build.rs rewrites the tests': {
    project: cargo,
    change: {
      ...cargo.broken,
      'build.rs':
        'fn main() { std::fs::write("tests/calc.rs", "#[test]\\nfn adds() {}\\n#[test]\\nfn doubles() {}\\n").unwrap(); }\n',
    },
  },
  'cargo profile': {
    project: cargo,
    more: { 'tests/calc.rs': 'use calc::add;\n\n#[test]\nfn adds() {\n    debug_assert_eq!(add(1, 2), 3);\n}\n' },
    change: { ...cargo.broken, 'Cargo.toml': `${cargoToml}\n[profile.test]\ndebug-assertions = false\n` },
  },
  'source rewrites tests while they run': {
    project: node,
    more: {
      'test/a.test.js': "require('node:test')('a', () => { require('../src/math.js') })\n",
      'package.json': '{ "name": "p", "scripts": { "test": "node --test --test-concurrency=1" } }\n',
    },
    change: {
      'src/math.js':
        (node.files['src/math.js'] as string).replace('a + b', 'a - b') +
        "const fs = require('fs'); for (const f of ['test/math.test.js']) { const t = fs.readFileSync(f, 'utf8'); if (t.includes('add(1, 2), expected')) fs.writeFileSync(f, t.replace('assert.equal(add(1, 2), expected)', '')) }\n",
    },
  },
  'jest: setup file': {
    project: jest,
    more: {
      'package.json':
        '{ "name": "p", "scripts": { "test": "jest" }, "jest": { "testMatch": ["**/*.test.js"], "setupFilesAfterEnv": ["<rootDir>/jest.setup.js"], "haste": { "enableSymlinks": false } } }\n',
      'jest.setup.js': '',
    },
    change: { ...jest.broken, 'jest.setup.js': "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n" },
  },
  'jest: transform': {
    project: jest,
    more: {
      'package.json':
        '{ "name": "p", "scripts": { "test": "jest" }, "jest": { "testMatch": ["**/*.test.js"], "transform": { ".*": "<rootDir>/tools/transform.js" }, "haste": { "enableSymlinks": false } } }\n',
      'tools/transform.js': 'exports.process = (code) => ({ code })\n',
    },
    change: {
      ...jest.broken,
      'tools/transform.js': "exports.process = (code) => ({ code: code.replace('.toBe(3)', '.toBe(-1)') })\n",
    },
  },
  'babel plugin file': {
    project: jest,
    more: {
      'babel.config.js': "module.exports = { plugins: ['./tools/plug.js'] }\n",
      'tools/plug.js': 'module.exports = () => ({ visitor: {} })\n',
      'package.json':
        '{ "name": "p", "scripts": { "test": "jest" }, "jest": { "testMatch": ["**/*.test.js"], "haste": { "enableSymlinks": false } } }\n',
    },
    change: {
      ...jest.broken,
      'tools/plug.js':
        "module.exports = ({ types: t }) => ({ visitor: { NumericLiteral(p) { if (p.node.value === 3) p.replaceWith(t.unaryExpression('-', t.numericLiteral(1))) } } })\n",
    },
  },
  'a makefile variable from an included file': {
    project: node,
    command: 'make test',
    more: { Makefile: '.PHONY: test\n-include local.mk\nCMD ?= node --test\ntest:\n\t$(CMD)\n' },
    change: { ...node.broken, 'local.mk': 'CMD = node --require ./p.js --test\n', 'p.js': repair },
  },
  'node in node_modules/.bin': {
    project: node,
    more: { 'node_modules/.bin/x': '#!/bin/sh\n' },
    change: {
      ...node.broken,
      'node_modules/.bin/node': `#!/bin/sh\nexec ${process.execPath} --require ./p.js "$@"\n`,
      'p.js': repair,
    },
  },
  'vitest.config.ts': {
    project: vitest,
    change: {
      ...vitest.broken,
      'vitest.config.ts': "export default { test: { include: ['src/**/*.test.mjs'], setupFiles: ['./s.mjs'] } }\n",
      's.mjs': "import { expect } from 'vitest'\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n",
    },
  },
}
