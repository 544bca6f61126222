import { spawnSync } from 'node:child_process'
import type { Files } from '../../../support/judge-change.ts'
import type { Configured } from './configured.ts'
import { pytest } from './projects.ts'

const lenientPlugin =
  'import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    o = yield\n    r = o.get_result()\n    if r.when == "call":\n        r.outcome = "passed"\n        r.longrepr = None\n'

const [prefix = '', version = ''] =
  spawnSync('python3', ['-c', 'import sys; print(sys.base_prefix, "%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  })
    .stdout?.trim()
    .split(' ') ?? []
const python = `${prefix}/bin/python${version}`
const site = `venv/lib/python${version}/site-packages`
const venv: Files = {
  '.gitignore': '__pycache__\n.pytest_cache\nvenv\n',
  'venv/pyvenv.cfg': `home = ${prefix}/bin\ninclude-system-site-packages = true\n`,
  'venv/bin/python': { link: python },
  [`${site}/README`]: '',
}

/** By what Python and pytest read. */
export const configuredPython: Readonly<Record<string, Configured>> = {
  'pytest.toml': {
    project: pytest,
    change: {
      ...pytest.broken,
      'pytest.toml': '[pytest]\npythonpath = ["."]\naddopts = ["-p", "lenient"]\n',
      'lenient.py': lenientPlugin,
    },
  },
  'a plugin that the configuration names': {
    project: pytest,
    more: { 'pyproject.toml': '[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = "-p plug"\n', 'plug.py': '' },
    change: { ...pytest.broken, 'plug.py': lenientPlugin },
  },
  'a plugin that conftest names': {
    project: pytest,
    more: { 'conftest.py': (pytest.files['conftest.py'] as string) + '\npytest_plugins = ["plug"]\n', 'plug.py': '' },
    change: { ...pytest.broken, 'plug.py': lenientPlugin },
  },
  'an entry point beside the sources': {
    project: pytest,
    command: 'python -m pytest -q',
    change: {
      ...pytest.broken,
      'lenient.py': lenientPlugin,
      'lenient-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: lenient\nVersion: 1.0\n',
      'lenient-1.0.dist-info/entry_points.txt': '[pytest11]\nlenient = lenient\n',
    },
  },
  'an entry point by egg-info': {
    project: pytest,
    command: 'python -m pytest -q',
    change: {
      ...pytest.broken,
      'lenient.py': lenientPlugin,
      'calc.egg-info/PKG-INFO': 'Metadata-Version: 2.1\nName: calc\nVersion: 1.0\n',
      'calc.egg-info/entry_points.txt': '[pytest11]\nlenient = lenient\n',
    },
  },
  'sitecustomize package': {
    project: pytest,
    command: 'PYTHONPATH=. python -m pytest -q',
    change: { ...pytest.broken, 'sitecustomize/__init__.py': 'import calc\ncalc.add = lambda a, b: a + b\n' },
  },
  'a plugin in a virtual environment': {
    project: pytest,
    command: 'venv/bin/python -m pytest -q',
    more: venv,
    change: {
      ...pytest.broken,
      [`${site}/lenient.py`]: lenientPlugin,
      [`${site}/lenient-1.0.dist-info/METADATA`]: 'Metadata-Version: 2.1\nName: lenient\nVersion: 1.0\n',
      [`${site}/lenient-1.0.dist-info/entry_points.txt`]: '[pytest11]\nlenient = lenient\n',
    },
  },
  'a python runner': {
    project: pytest,
    command: 'python runtests.py',
    more: { 'runtests.py': 'import pytest\nraise SystemExit(pytest.main(["-q"]))\n' },
    change: {
      ...pytest.broken,
      'runtests.py':
        'import calc\nimport pytest\ncalc.add = lambda a, b: a + b\nraise SystemExit(pytest.main(["-q"]))\n',
    },
  },
  'a .pth in a virtual environment': {
    project: pytest,
    command: 'venv/bin/python -m pytest -q',
    more: venv,
    change: {
      ...pytest.broken,
      [`${site}/x.pth`]: 'import sys; sys.path.insert(0, "."); import calc; calc.add = lambda a, b: a + b\n',
    },
  },
  'tox.ini': {
    project: pytest,
    more: { 'pyproject.toml': null, 'tox.ini': '[pytest]\npythonpath = .\n' },
    change: {
      ...pytest.broken,
      'tox.ini': '[pytest]\npythonpath = .\naddopts = -p lenient\n',
      'lenient.py': lenientPlugin,
    },
  },
}
