import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect } from 'vitest'
import type { Sandbox } from '../../sandbox/index.ts'
import { codeOf, openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'
import { runAndLand } from './landed.ts'

let state: string
beforeEach(async () => {
  state = await temporaryDirectory()
  process.env['XDG_STATE_HOME'] = state
  return () => {
    delete process.env['XDG_STATE_HOME']
  }
})

const identity = '-c user.name=a -c user.email=a@b -c commit.gpgsign=false'

function git(directory: string, ...args: readonly string[]): string {
  const named = ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args]
  const { stdout, stderr, status } = spawnSync('git', ['-C', directory, ...named], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

async function repository(): Promise<string> {
  const directory = await temporaryDirectory()
  git(directory, 'init', '-q')
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'first')
  return directory
}

async function openIn(workspace: string): Promise<Sandbox> {
  return openFor({ mode: 'workspace-write', workspace })
}

/** Runs git commands that people often run in a directory on the host, so that any planted program would run. */
function useOnHost(directory: string): void {
  for (const command of [
    'status',
    'add -A',
    `${identity} commit -q --allow-empty -m x`,
    'diff HEAD',
    'log -1',
    'fetch',
  ]) {
    spawnSync('sh', ['-c', `git ${command}`], { cwd: directory, stdio: 'ignore' })
  }
}

/** Plants files with a script, and then uses the host's git in `where`. Expects that no planted file runs: one that ran would create a sentinel. */
async function expectDisarmed(workspace: string, script: string, where = '.'): Promise<void> {
  const sentinel = join(workspace, 'sentinel')
  const evil = `evil() { printf '#!/bin/sh\\ntouch ${sentinel}\\n' > "$1"; chmod +x "$1"; }; `
  const control = await temporaryDirectory()
  // The same script runs unconfined on a copy. An attack that doesn't work there would prove nothing.
  spawnSync('cp', ['-a', `${workspace}/.`, control])
  spawnSync('sh', ['-c', (evil + script).replaceAll(workspace, control)], { cwd: control })
  useOnHost(join(control, where))
  expect(existsSync(join(control, 'sentinel')), 'the attack works outside').toBe(true)

  const { ran } = await runAndLand(workspace, evil + script)
  useOnHost(join(workspace, where))
  expect(existsSync(sentinel), ran[0]?.stderr).toBe(false)
}

describe('planted, and not there when the view has landed', () => {
  test('commondir', async () => {
    const script = `cp -r .git evil; evil hook; printf '[core]\\n\\tfsmonitor = ./hook\\n' >> evil/config; echo ../evil > .git/commondir`
    await expectDisarmed(await repository(), script)
  })

  test('a hook where there was no directory for hooks', async () => {
    const workspace = await repository()
    spawnSync('rm', ['-r', join(workspace, '.git/hooks')])
    await expectDisarmed(workspace, 'mkdir .git/hooks; evil .git/hooks/pre-commit')
    expect(existsSync(join(workspace, '.git/hooks/pre-commit'))).toBe(false)
  })

  test('config of a repository nested eight deep', async () => {
    const workspace = await temporaryDirectory()
    const nested = 'a/b/c/d/e/f/g/h'
    await mkdir(join(workspace, nested), { recursive: true })
    git(join(workspace, nested), 'init', '-q')
    await expectDisarmed(workspace, `evil hook; git -C ${nested} config core.fsmonitor ${workspace}/hook`, nested)
  })

  test('a hook of a repository made by the command', async () => {
    await expectDisarmed(await temporaryDirectory(), 'git init -q new; evil new/.git/hooks/pre-commit', 'new')
  })

  test('config of a repository made by the command', async () => {
    const workspace = await temporaryDirectory()
    await expectDisarmed(workspace, `git init -q .; evil hook; git config core.fsmonitor ./hook`)
  })

  test('a repository in place of one that was moved away with its parent', async () => {
    const workspace = await temporaryDirectory()
    await mkdir(join(workspace, 'sub'))
    git(join(workspace, 'sub'), 'init', '-q')
    await expectDisarmed(workspace, 'mv sub old; git init -q sub; evil sub/.git/hooks/pre-commit', 'sub')
  })

  test('a file named .git that leads to a directory with another name', async () => {
    const script = `mkdir sub; git init -q x; mv x/.git sub/data; evil hook; git --git-dir=sub/data config core.fsmonitor ${'$PWD'}/hook; echo 'gitdir: data' > sub/.git`
    await expectDisarmed(await temporaryDirectory(), script, 'sub')
  })

  test('a symlink named .git', async () => {
    const script = `mkdir sub; git init -q x; mv x/.git data; evil hook; git --git-dir=data config core.fsmonitor ${'$PWD'}/hook; ln -s ../data sub/.git`
    await expectDisarmed(await temporaryDirectory(), script, 'sub')
  })

  test('a bare repository among the files', async () => {
    const script = `git init -q --bare bare; evil hook; git -C bare config core.bare false; git -C bare config core.worktree ${'$PWD'}; git -C bare config core.fsmonitor ${'$PWD'}/hook`
    await expectDisarmed(await temporaryDirectory(), script, 'bare')
  })

  test('hooks in the directory that the config names', async () => {
    const workspace = await repository()
    git(workspace, 'config', 'core.hooksPath', '.husky')
    await expectDisarmed(workspace, 'mkdir .husky; evil .husky/pre-commit')
    await mkdir(join(workspace, '.husky'))
    expect(codeOf(await run(await openIn(workspace), 'echo x > .husky/pre-commit'))).not.toBe(0)
  })

  test("a worktree's own config", async () => {
    const workspace = await repository()
    git(workspace, 'config', 'extensions.worktreeConfig', 'true')
    await expectDisarmed(workspace, `evil hook; printf '[core]\\n\\tfsmonitor = ./hook\\n' > .git/config.worktree`)
  })

  test('a config that had a hard link under another name before it became a config', async () => {
    const workspace = await temporaryDirectory()
    await runAndLand(
      workspace,
      'git init -q new; ln new/.git/config alias; printf "#!/bin/sh\\ntouch ../sentinel\\n" > hook; chmod +x hook',
      `printf '[core]\\n\\tfsmonitor = ../hook\\n' >> alias`,
    )
    useOnHost(join(workspace, 'new'))
    expect(existsSync(join(workspace, 'sentinel'))).toBe(false)
  })
})

describe('ordinary git', () => {
  test('init, add, commit, branch and merge of a new repository, with nothing to report', async () => {
    const workspace = await temporaryDirectory()
    const script = `set -e; git init -q .; echo a > a; git add -A; git ${identity} commit -qm a; git checkout -qb b; echo b > b; git add b; git ${identity} commit -qm b; git checkout -q -; git merge -q b`
    const sandbox = await openIn(workspace)
    expect(await run(sandbox, script)).toMatchObject({ stderr: '', result: { code: 0, denials: [] } })
    expect(await run(sandbox, `echo c > c && git add -A && git ${identity} commit -qm c`)).toMatchObject({
      result: { code: 0, denials: [] },
    })
    expect(git(workspace, 'status', '--porcelain')).toBe('')
    expect(await readdir(join(workspace, '.git/hooks'))).toContain('pre-commit.sample')
  })

  test('without a view, the repository of a linked worktree stays as it is', async () => {
    const main = await repository()
    const workspace = join(await temporaryDirectory(), 'tree')
    git(main, 'worktree', 'add', '-q', workspace)
    const sandbox = await openIn(workspace)
    expect((await run(sandbox, 'git log -1 --format=%s; echo a > a; git status --porcelain')).stdout).toBe(
      'first\n?? a\n',
    )
    expect(codeOf(await run(sandbox, `git add -A && git ${identity} commit -qm linked`))).not.toBe(0)
    expect(git(workspace, 'log', '-1', '--format=%s')).toBe('first\n')
    expect(codeOf(await run(sandbox, 'echo x >> .git'))).not.toBe(0)
    await run(sandbox, `echo x > ${main}/file`)
    expect(existsSync(join(main, 'file'))).toBe(false)
    const config = await readFile(join(main, '.git/config'))
    await run(sandbox, `git config core.fsmonitor ./evil; echo x > ${main}/.git/hooks/pre-commit`)
    await run(sandbox, `echo .. > ${main}/.git/worktrees/tree/commondir; echo ../evil > ${main}/.git/commondir`)
    expect(await readFile(join(main, '.git/config'))).toEqual(config)
    expect(await readFile(join(main, '.git/worktrees/tree/commondir'), 'utf8')).toBe('../..\n')
    for (const name of ['hooks/pre-commit', 'commondir']) expect(existsSync(join(main, '.git', name))).toBe(false)
  })

  test('a file named .git that comes with a tree gives no access to another repository', async () => {
    const victim = await repository()
    const workspace = await temporaryDirectory()
    await writeFile(join(workspace, '.git'), `gitdir: ${victim}/.git\n`)
    const sandbox = await openIn(workspace)
    expect(codeOf(await run(sandbox, `echo x > ${victim}/.git/planted`))).not.toBe(0)
  })

  test('the host’s own hooks stay, even if their repository is moved', async () => {
    const workspace = await temporaryDirectory()
    await mkdir(join(workspace, 'sub'))
    git(join(workspace, 'sub'), 'init', '-q')
    const hook = join(workspace, 'sub/.git/hooks/pre-commit')
    await writeFile(hook, '#!/bin/sh\n')
    await chmod(hook, 0o755)
    const { result } = await run(await openIn(workspace), 'mv sub moved')
    expect(result).toMatchObject({ code: 0, denials: [] })
    expect(existsSync(join(workspace, 'moved/.git/hooks/pre-commit'))).toBe(true)
  })
})

test('files that the host creates while only read-only commands run stay, when such a command ends and when another follows', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  await run(sandbox, 'true')
  const reader = sandbox.spawn({ argv: ['cat'], cwd: workspace, stdin: 'pipe', readOnly: true })
  spawnSync('git', ['init', '-q', join(workspace, 'made')])
  await writeFile(join(workspace, 'made/.git/hooks/pre-commit'), '#!/bin/sh\n')
  expect((await run(sandbox, 'true', { readOnly: true })).result.denials).toEqual([])
  expect(await sandbox.inspect()).toEqual([])
  expect((await run(sandbox, 'echo more > file')).result.denials).toEqual([])
  reader.stdin?.end()
  expect((await reader.result).denials).toEqual([])
  expect(existsSync(join(workspace, 'made/.git/hooks/pre-commit'))).toBe(true)
})
