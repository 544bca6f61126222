import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, expect, test as plain } from 'vitest'
import { execCommand } from '../../../engine/tools/exec-command.ts'
import { searchedSecrets } from '../../../engine/tools/searched-secrets.ts'
import type { SandboxPolicyInput } from '../../../sandbox/index.ts'
import { openFor, testInBubblewrap as test } from '../../sandbox/helpers.ts'
import { openPath } from '../../support/call-path.ts'
import { tempDir } from '../../support/temp-dir.ts'

const value = 'KEY=4f1c-of-nobody'

/** A project with secrets beside its sources. */
function project(): string {
  const workspace = realpathSync(tempDir())
  for (const name of [
    '.env',
    'deploy/prod.env',
    'certs/server.key',
    'src/secrets/db.yml',
    'src/main.js',
    '.env.example',
  ])
    writeIn(workspace, name)
  writeIn(workspace, 'node_modules/one/.env')
  symlinkSync('../.env', join(workspace, 'src/settings.txt'))
  return workspace
}

function writeIn(workspace: string, name: string): void {
  mkdirSync(dirname(join(workspace, name)), { recursive: true })
  writeFileSync(join(workspace, name), `${value}\n`)
}

async function runIn(workspace: string, cmd: string, policy: Partial<SandboxPolicyInput> = {}): Promise<string> {
  const readableRoots = [dirname(process.execPath), ...(policy.readableRoots ?? [])]
  const sandbox = await openFor({ mode: 'workspace-write', workspace, ...policy, readableRoots })
  const { call } = await openPath({ tools: [execCommand], sandbox, approvalMode: 'untrusted' })
  const { output } = await call('exec_command', { cmd })
  await sandbox.close()
  return output
}

const shown = (output: string): readonly string[] =>
  output.split('\n').flatMap((line) => (line.endsWith(value) ? [line.slice(0, line.indexOf(':'))] : []))

describe('a search that nobody approved finds no file with secrets', () => {
  test.each([
    'grep -r KEY .',
    'grep -R KEY .',
    'find . -type f -exec grep -H KEY {} +',
    'find . -not -path "*/node_modules/*" -type f -print0 | xargs -0 grep -H KEY',
    'cd ./src/.. && grep -rH KEY .',
    'grep -rH KEY . && diff -r src deploy',
  ])('%s', async (command) => {
    const output = await runIn(project(), command)
    const found = shown(output).map((path) => path.replace(/^(?:\.\.?\/)+(?:src\/\.\.\/)?/, ''))
    expect(found).toContain('src/main.js')
    expect(found).toContain('.env.example')
    expect(found.filter((path) => !/^src\/main\.js$|^\.env\.example$|^node_modules\//.test(path))).toEqual([])
    expect(output).toMatch(/Permission denied/)
  })
})

test('the model is told which file was hidden, and what would show it', async () => {
  const workspace = project()
  const output = await runIn(workspace, 'grep -r KEY .')
  expect(output).toContain(`add "${workspace}/.env" to sandbox_read.allow`)
})

test('a search finds files that are listed in sandbox_read.allow', async () => {
  const workspace = project()
  expect(shown(await runIn(workspace, 'grep -r KEY .', { readableRoots: [join(workspace, '.env')] }))).toContain(
    './.env',
  )
})

test('later commands that may write see the files, and so does git', async () => {
  const workspace = project()
  const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots: [dirname(process.execPath)] })
  const { call } = await openPath({ tools: [execCommand], sandbox, approvalMode: 'never' })
  const run = async (cmd: string): Promise<string> => (await call('exec_command', { cmd })).output
  writeFileSync(join(workspace, 'show.sh'), 'cat deploy/prod.env')
  execFileSync('git', ['init', '--quiet'], { cwd: workspace })
  expect(shown(await run('grep -rH KEY deploy'))).toEqual([])
  expect(await run('sh show.sh')).toContain(value)
  expect(await run('git status --porcelain deploy')).toContain('?? deploy/')
  expect(shown(await run('grep -rH KEY deploy'))).toEqual([])
  await sandbox.close()
})

plain('a command that names each file that it reads is not delayed by a search for others', () => {
  const workspace = project()
  const secrets = (line: string): readonly string[] =>
    searchedSecrets(['/bin/bash', '-c', line], workspace, [])
      .map((path) => path.slice(workspace.length + 1))
      .toSorted()
  expect(secrets('cat src/main.js; ls -R; git status')).toEqual([])
  expect(secrets('cat src/*')).toEqual(['.env', 'certs/server.key', 'deploy/prod.env', 'src/secrets/db.yml'])
})

plain('a search outside the working directory is also checked', () => {
  const workspace = project()
  const beside = searchedSecrets(['/bin/bash', '-c', 'grep -r KEY ../deploy'], join(workspace, 'src'), [])
  expect(beside).toContain(join(workspace, 'deploy/prod.env'))
})
