import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { configuredPolicy } from '../../engine/config/configured-policy.ts'
import { applyPatch } from '../../engine/tools/apply-patch-tool.ts'
import { writeFile as writeTool } from '../../engine/tools/write-file.ts'
import { accessDenial, parsePolicy, protectedTable, protectingPlace } from '../../sandbox/index.ts'
import { codeOf, openFor, run, temporaryDirectory } from '../sandbox/helpers.ts'
import { openPath } from '../support/call-path.ts'
import { needsBubblewrap } from '../support/needs.ts'

/**
 * A file name for each row of the protected table that applies in a workspace, and the files to which the git configuration in `repository` refers: a
 * hook, an included file, and a filter's program.
 */
const names = [
  ...protectedTable()
    .filter(({ what }) => what === 'settings' || what === 'startup')
    .map(({ at }) => at.replace(/^(?:\*\*|~)\//, '').replace('*', 'x')),
  'hooks-of-git/pre-commit',
  'included.cfg',
  'filters/clean.sh',
]

const gitNames = [
  '.git/hooks/pre-commit',
  '.git/config',
  '.git/index',
  'sub/.git/config',
  'sub/.GIT/config',
  'bare/HEAD',
]

async function repository(): Promise<string> {
  const workspace = await temporaryDirectory()
  const files = {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config':
      '[core] hooksPath = hooks-of-git ; a comment\n[include]\n\tpath = ../included.cfg\n[filter "x"]\n\tclean = sh filters/clean.sh %f\n',
    'included.cfg': '[user]\n\tname = me\n',
    'filters/clean.sh': 'cat\n',
    '.git/objects/x': '',
    '.git/refs/x': '',
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, name)), { recursive: true })
    await writeFile(join(workspace, name), text)
  }
  return workspace
}

test.skipIf(needsBubblewrap())(
  'no patch and no file tool writes what is protected, whoever approves everything',
  async () => {
    const workspace = await repository()
    // As in the engine, commands can read Node's directory: file tools need Node, which may be installed in a place hidden from commands, such as
    // /tmp.
    const readableRoots = [dirname(process.execPath)]
    const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots })
    const { call } = await openPath({ tools: [applyPatch, writeTool], sandbox, approvalMode: 'bypass' })
    expect(await call('write_file', { path: 'ordinary', content: 'x' })).toMatchObject({ ok: true })
    const through: string[] = []
    for (const name of [...names, ...gitNames]) {
      const there = name === 'included.cfg' || name.startsWith('filters/') || /^\.git\/config$/.test(name)
      const patch = there
        ? `*** Begin Patch\n*** Delete File: ${name}\n*** End Patch`
        : `*** Begin Patch\n*** Add File: ${name}\n+evil\n*** End Patch`
      if ((await call('apply_patch', { input: patch })).ok) through.push(`patch ${name}`)
      if ((await call('write_file', { path: name, content: 'evil' })).ok) through.push(`write ${name}`)
    }
    expect(through).toEqual([])
  },
)

test('the Guardian, the evaluator and requests for grants agree on each row, also outside of roots', async () => {
  const workspace = await repository()
  const policy = parsePolicy({ mode: 'workspace-write', workspace })
  for (const name of [...names, ...gitNames]) {
    const path = join(workspace, name)
    expect(accessDenial(policy, path, 'write'), name).toBeDefined()
    expect(protectingPlace(policy, path, [workspace]), name).toBeDefined()
  }
  for (const name of [...names, ...gitNames].filter((each) => !/^(?:hooks-of-git|included|filters)/.test(each))) {
    expect(protectingPlace(policy, join('/srv/other', name), [workspace]), name).toBeDefined()
  }
  for (const name of [
    'src/a.ts',
    'README.md',
    'docs/HEADING',
    'package.json',
    'a/.bashrc',
    'bin/x',
    '.github/workflows/ci.yml',
  ]) {
    expect(protectingPlace(policy, join(workspace, name), [workspace]), name).toBeUndefined()
    expect(accessDenial(policy, join(workspace, name), 'write'), name).toBeUndefined()
  }
})

test.skipIf(needsBubblewrap())('no command writes what git is led to by its configuration', async () => {
  const sandbox = await openFor({ mode: 'workspace-write', workspace: await repository() })
  const ran = await run(sandbox, 'echo x >> included.cfg')
  expect(codeOf(ran)).not.toBe(0)
})

test.skipIf(needsBubblewrap())('a repository is made by no patch, not even a bare one in two steps', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const { call } = await openPath({ tools: [applyPatch], sandbox, approvalMode: 'bypass' })
  const add = (name: string): string => `*** Add File: ${name}\n+x\n`
  const parts = ['x/objects/a', 'x/refs/a', 'x/config'].map(add).join('')
  expect(await call('apply_patch', { input: `*** Begin Patch\n${parts}*** End Patch` })).toMatchObject({ ok: true })
  expect((await call('apply_patch', { input: `*** Begin Patch\n${add('x/HEAD')}*** End Patch` })).ok).toBe(false)
})

test('protected.allow lets through the named place alone, and a name of none is an error', async () => {
  const workspace = await temporaryDirectory()
  const { protectedPaths } = configuredPolicy({ protected: { allow: ['.husky', '**/.vscode/settings.json'] } })
  const policy = parsePolicy({ mode: 'workspace-write', workspace, protectedPaths })
  const names = ['.husky/pre-commit', 'a/.vscode/settings.json', '.vscode/tasks.json']
  expect(names.filter((name) => accessDenial(policy, join(workspace, name), 'write') !== undefined)).toEqual([
    '.vscode/tasks.json',
  ])
  expect(() => configuredPolicy({ protected: { allow: ['src'] } })).toThrow(/"src" is not a protected place/)
  expect(() => configuredPolicy({ protected: { allow: ['.portcullis'] } })).toThrow(/not a protected place/)
})
