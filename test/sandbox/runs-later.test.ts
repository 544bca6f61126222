import { expect, test } from 'vitest'
import { codeThatRunsLater, runsLater } from '../../sandbox/index.ts'

const root = '/home/me/.cargo/ws'

test.each([
  ['package.json', 'npm'],
  ['deep/down/Makefile', 'make'],
  ['GNUMAKEFILE', 'make'],
  ['.github/workflows/x/y.yml', 'GitHub Actions'],
  ['.cargo/config.toml', 'cargo'],
  ['crates/a/build.rs', 'cargo'],
  ['docker/Dockerfile.ci', 'Docker and Podman'],
  ['vite.config.ts', 'JavaScript tools'],
  ['.vscode/tasks.json', 'Visual Studio Code'],
  ['.husky/pre-commit', 'husky'],
  ['.envrc', 'direnv'],
  ['infra/main.tf', 'Terraform'],
  ['ansible.cfg', 'Ansible'],
  ['tools/bazel', 'Bazel, Buck and Pants'],
  ['.lefthook-local.yml', 'Lefthook'],
  ['sub/.pdbrc', 'Python'],
  ['lib/x.so-gdb.py', 'Debuggers'],
  ['odd\nname/conftest.py', 'pytest'],
])('%j is run by others than whoever asks for it', (path, program) => {
  expect(runsLater(`${root}/${path}`, root)).toBe(program)
})

test.each([
  'src/a.ts',
  'package.json5',
  'Makefile/a.txt',
  'build/x',
  'workflows/a.yml',
  'my-package.json',
  'a/.cargo',
  'README.md',
])('%s is not', (path) => {
  expect(runsLater(`${root}/${path}`, root)).toBeUndefined()
})

test('each name of the table occurs once, with its source', () => {
  const rows = codeThatRunsLater()
  const names = rows.flatMap((row) => row.names)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(rows.filter(({ names, source }) => names.length === 0 || !/^https:\/\/\S+$/.test(source))).toEqual([])
  expect(names.filter((name) => name.trim() !== name || name === '')).toEqual([])
})
