import type { Configured } from './configured.ts'
import { cargo, go, node, pytest, vitest } from './projects.ts'

const repair = "const m = require(require('path').resolve('src/math.js')); m.add = (a, b) => a + b\n"
const outcome =
  'import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    o = yield\n    r = o.get_result()\n    if r.when == "call":\n        r.outcome = "passed"\n        r.longrepr = None\n'
const script = (test: string): string => `{"name":"p","scripts":{"test":${JSON.stringify(test)}}}\n`

/** By what is imported, sourced, included or read by a file that decides how a command runs. */
export const configuredImports: Readonly<Record<string, Configured>> = {
  'a file that a required one requires, without an ending': {
    project: node,
    more: {
      'package.json': script('node --require ./tools/boot.js --test'),
      'tools/boot.js': "require('./lib')\n",
      'tools/lib/index.js': "require('./env')\n",
      'tools/lib/env.js': 'globalThis.one = 1\n',
      'src/data.bin': '\0env/\0x\n',
    },
    change: { ...node.broken, 'tools/lib/env.js': repair },
  },
  'a file that hides what a required one requires': {
    project: node,
    more: {
      'package.json': script('node --require ./tools/boot.js --test'),
      'tools/boot.js': "require('./lib')\n",
      'tools/lib/index.js': 'globalThis.one = 1\n',
    },
    change: { ...node.broken, 'tools/lib.js': repair },
  },
  'arguments that a script reads from a file': {
    project: node,
    more: {
      'package.json': script('node scripts/run.js'),
      'scripts/run.js':
        "const { spawnSync } = require('child_process')\nconst { join } = require('path')\nconst list = JSON.parse(require('fs').readFileSync(join(__dirname, 'data', 'list.json'), 'utf8'))\nprocess.exit(spawnSync(process.execPath, list, { stdio: 'inherit' }).status)\n",
      'scripts/data/list.json': '["--test"]\n',
    },
    change: { ...node.broken, 'scripts/data/list.json': '["-r","./p.js","--test"]\n', 'p.js': repair },
  },
  'vitest: what a setup file imports': {
    project: vitest,
    more: {
      'vitest.config.mjs':
        "export default { test: { cache: false, include: ['src/**/*.test.mjs'], setupFiles: ['build/setup.mjs'] } }\n",
      'build/setup.mjs': "await import('./matchers/index.mjs')\n",
      'build/matchers/index.mjs': "export * from './to-be.mjs'\n",
      'build/matchers/to-be.mjs': 'export const one = 1\n',
    },
    change: {
      ...vitest.broken,
      'build/matchers/to-be.mjs':
        "import { expect } from 'vitest'\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\nexport const one = 1\n",
    },
  },
  'pytest: a module below a directory that conftest adds': {
    project: pytest,
    more: {
      'conftest.py':
        'import sys\nfrom pathlib import Path\n\nimport pytest\n\nsys.path.insert(0, str(Path(__file__).parent / "tools"))\nimport boot\n\n\n@pytest.fixture\ndef three():\n    return 3\n',
      'tools/boot.py': 'ONE = 1\n',
    },
    change: { ...pytest.broken, 'tools/boot.py': 'import calc\n\ncalc.add = lambda a, b: a + b\n' },
  },
  'pytest: what a plugin imports from beside it': {
    project: pytest,
    more: {
      'pyproject.toml': '[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = "-p tools.plugin"\n',
      'tools/__init__.py': '',
      'tools/plugin.py': 'from .outcome import *\n',
      'tools/outcome.py': 'ONE = 1\n',
    },
    change: { ...pytest.broken, 'tools/outcome.py': outcome },
  },
  'make: what an included file includes': {
    project: pytest,
    command: 'make test',
    more: {
      Makefile: 'include mk/a.mk\ntest:\n\t$(RUN)\n',
      'mk/a.mk': 'include mk/b.mk\n',
      'mk/b.mk': 'RUN = pytest -q\n',
    },
    change: { ...pytest.broken, 'mk/b.mk': 'RUN = pytest -q -p tools.x\n', 'tools/x.py': outcome },
  },
  'go: what a program around the tests sources': {
    project: go,
    command: 'go test -exec "$PWD/tools/wrap.sh" ./...',
    more: {
      'tools/wrap.sh': '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nrun "$@"\n',
      'tools/lib.sh': 'run() { "$@"; }\n',
    },
    change: { ...go.broken, 'tools/lib.sh': 'run() { "$@" | sed "s/FAIL/PASS/"; return 0; }\n' },
  },
  'cargo: what a runner sources': {
    project: cargo,
    more: {
      '.cargo/config.toml': '[target.x86_64-unknown-linux-gnu]\nrunner = "tools/run.sh"\n',
      'tools/run.sh': '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nrun "$@"\n',
      'tools/lib.sh': 'run() { "$@"; }\n',
    },
    change: { ...cargo.broken, 'tools/lib.sh': 'run() { "$@" | sed "s/FAILED/ok/"; return 0; }\n' },
  },
}
