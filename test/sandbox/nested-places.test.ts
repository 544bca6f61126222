import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test as plain } from 'vitest'
import { evaluateAccess } from '../../sandbox/denials/evaluate-access.ts'
import { hostFileSystem } from '../../sandbox/file-system-view.ts'
import { parsePolicy, type Sandbox } from '../../sandbox/index.ts'
import { codeOf, eventually, openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

beforeEach(async () => {
  process.env['XDG_STATE_HOME'] = await temporaryDirectory()
  return () => {
    delete process.env['XDG_STATE_HOME']
  }
})

async function openWith(files: Readonly<Record<string, string>>): Promise<Sandbox> {
  const workspace = await temporaryDirectory()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, name)), { recursive: true })
    await writeFile(join(workspace, name), text)
  }
  return openFor({ mode: 'workspace-write', workspace })
}

const obeyed = ['.claude/settings.json', '.mcp.json', '.vscode/tasks.json', '.envrc', '.codex/config.toml']

test.each(obeyed)('%s below the top of a root: existing files stay unchanged', async (name) => {
  const sandbox = await openWith({ [`packages/a/${name}`]: 'mine' })
  const ran = await run(sandbox, `echo theirs > packages/a/${name}`)
  expect(codeOf(ran)).not.toBe(0)
  expect(ran.result.denials[0]?.rule).toMatch(/^protectedPaths: /)
  expect(await readFile(join(sandbox.policy.workspace, 'packages/a', name), 'utf8')).toBe('mine')
})

plain('the evaluator knows the places in every directory', () => {
  const policy = parsePolicy({ mode: 'workspace-write', workspace: '/w' })
  const may = (path: string): boolean => {
    const host = { ...hostFileSystem, realPath: (each: string) => each }
    return evaluateAccess(policy, { path, want: 'write' }, host).allowed
  }
  expect([may('/w/a/.claude/x'), may('/w/a/b/.vscode/tasks.json'), may('/w/.mcp.json')]).toEqual([false, false, false])
  expect([may('/w/a/.bashrc'), may('/w/a/.vscode/other.json'), may('/w/node_modules/a/.idea/x')]).toEqual([
    true,
    true,
    true,
  ])
})

test('a protected file that the user edits in place meanwhile stays as edited', async () => {
  const workspace = await temporaryDirectory()
  await mkdir(join(workspace, '.vscode'))
  for (const name of ['.mcp.json', '.vscode/settings.json', '.envrc']) await writeFile(join(workspace, name), 'mine')
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const script = `touch started; while [ ! -e edited ]; do sleep 0.05; done; echo evil > .mcp.json; ln .mcp.json x && echo evil > x
    mv .vscode v2; echo evil > v2/settings.json`
  const ran = run(sandbox, script)
  await eventually(() => existsSync(join(workspace, 'started')))
  for (const name of ['.mcp.json', '.vscode/settings.json']) await writeFile(join(workspace, name), 'mine, edited')
  await writeFile(join(workspace, 'edited'), '')
  await ran
  expect(await readFile(join(workspace, '.mcp.json'), 'utf8')).toBe('mine, edited')
  expect(await readFile(join(workspace, 'v2/settings.json'), 'utf8')).toBe('mine, edited')
})
