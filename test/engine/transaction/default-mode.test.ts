import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { say, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { expectOnlyJudged, plantings } from './default-mode-plantings.ts'
import { cmd } from './overlay-runs.ts'

const by = '-c user.name=x -c user.email=x@x'

describe.skipIf(needsBubblewrap())(
  'after a run by default, the tree and the git directory hold only what was judged',
  () => {
    test.each(plantings)('%s', async (_, command) => {
      await expectOnlyJudged(command)
    })
  },
)

test
  .skipIf(needsBubblewrap())
  .each<readonly [string, string, string]>([
    ['a hook that is a link', 'ln -s ../../scripts/pc.sh .git/hooks/pre-commit', 'scripts/pc.sh'],
    ['the directory of hooks that is a link', 'rm -r .git/hooks; ln -s ../gh .git/hooks', 'gh/pre-commit'],
    ['settings that are a link', 'mkdir c; mv .git/config c/gc; ln -s ../c/gc .git/config', 'c/gc'],
    ['included settings that are missing', 'git config include.path ../more.config', 'more.config'],
    ['a program that is missing', 'git config core.fsmonitor tools/fsm', 'tools/fsm'],
    ...[
      'cd tools && ./a',
      '"$(git rev-parse --show-toplevel)"/tools/a',
      '$PWD/tools/a',
      '`pwd`/tools/a',
      'tools/*',
      'bash -c "tools/a"',
    ].map(
      (filter) => [`the filter ${filter}`, `mkdir tools; git config filter.f.clean '${filter}'`, 'tools/a'] as const,
    ),
    ['a module', `mkdir tools; git config filter.f.clean 'python3 -m tools.a'`, 'tools/a.py'],
    ['a hook of a nested repository', 'git init -q n; git -C n config core.hooksPath hk', 'n/hk/pre-commit'],
  ])('what git reaches by %s does not land', async (_, prepare, path) => {
  const cwd = repository({ 'a.txt': 'a\n' })
  execFileSync('sh', ['-c', prepare], { cwd })
  const before = existsSync(join(cwd, path)) ? readFileSync(join(cwd, path), 'utf8') : undefined
  const write = `mkdir -p "$(dirname ${path})"; printf '#!/bin/sh\n' > ${path}; chmod +x ${path}; echo b > a.txt`
  const ended = await exec([cmd(write), [say('done')]], ['--json', 'x'], { cwd })
  expect([ended.code, readFileSync(join(cwd, 'a.txt'), 'utf8')], ended.stderr).toEqual([0, 'b\n'])
  expect(existsSync(join(cwd, path)) ? readFileSync(join(cwd, path), 'utf8') : undefined).toBe(before)
  expect(ended.stderr).toContain(path)
})

test.skipIf(needsBubblewrap()).each([
  ['a protected name that leads nowhere', 'ln -s cfg/env .envrc', 'mkdir cfg; echo evil > cfg/env', 'cfg/env'],
  ['a protected name in a folder', 'mkdir p; ln -s ../cfg/env p/.envrc', 'mkdir cfg; echo evil > cfg/env', 'cfg/env'],
  ['link after link', 'mkdir c; touch c/x; ln -s c cfg; ln -s cfg/env .envrc', 'echo evil > c/env', 'c/env'],
  ['a folder with settings', 'mkdir vs; touch vs/x; ln -s vs .vscode', 'echo evil > vs/tasks.json', 'vs/tasks.json'],
  ['a link of its own', 'true', 'mkdir vs; echo evil > vs/tasks.json; ln -s vs .vscode', '.vscode'],
  ['a link on the way', 'ln -s cfg/env .envrc', 'mkdir c; echo evil > c/env; ln -s c cfg', 'cfg'],
  [
    'a link on the way to hooks',
    'git config core.hooksPath cfg/hk',
    'mkdir -p c/hk; echo evil > c/hk/pre-commit; ln -s c cfg',
    'cfg',
  ],
  [
    'a link among the hooks',
    'git config core.hooksPath hk; mkdir hk scripts; touch scripts/x; ln -s ../scripts/pc hk/pre-commit',
    'echo evil > scripts/pc',
    'scripts/pc',
  ],
  [
    'a link in a folder behind a link',
    'mkdir cc cmds; touch cmds/x; ln -s cc .claude; ln -s ../cmds cc/commands',
    'echo evil > cmds/evil.md',
    'cmds/evil.md',
  ],
  [
    'a way that turns back in a folder',
    'mkdir d vs; touch d/x vs/x; ln -s d/../vs .vscode',
    'rm -r d; mkdir -p x/y x/vs; echo evil > x/vs/tasks.json; ln -s x/y d',
    'd',
  ],
])('what programs reach through links does not land: %s', async (_, prepare, plant, path) => {
  for (const [commit, view] of [
    ['true', 'copy'],
    [`git add -A; git ${by} commit -qm two`, 'copy'],
    ['true', 'overlay'],
  ] as const) {
    const cwd = repository({ 'a.txt': 'a\n' })
    execFileSync('sh', ['-c', `${prepare}; git add -A; git ${by} commit -qm links --allow-empty`], { cwd })
    const script = `${plant}; echo b > a.txt; ${commit}`
    const ended = await exec([cmd(script), [say('done')]], ['--json', `--view=${view}`, 'x'], { cwd })
    expect([ended.code, readFileSync(join(cwd, 'a.txt'), 'utf8')], ended.stderr).toEqual([0, 'b\n'])
    expect(lstatSync(join(cwd, path), { throwIfNoEntry: false })?.isDirectory() ?? true).toBe(true)
    expect(ended.stderr).toContain(path)
    expect(execFileSync('git', ['log', '-1', '--format=%s'], { cwd, encoding: 'utf8' })).toBe('links\n')
  }
})

/** Runs a script in the default mode. */
async function ran(cwd: string, script: string): Promise<string> {
  const ended = await exec([cmd(script), [say('done')]], ['--json', 'x'], { cwd })
  expect(ended.code, ended.stderr).toBe(0)
  return ended.stderr + ended.stdout
}

describe.skipIf(needsBubblewrap())('no branch moves to protected entries that somebody else committed', () => {
  const refused = 'which never lands'
  const log = (cwd: string): string => execFileSync('git', ['log', '--format=%s'], { cwd, encoding: 'utf8' })
  const committed = (prepare = 'true'): string => {
    const cwd = repository({ 'a.txt': 'a\n' })
    execFileSync('sh', ['-c', `${prepare}; git add -A; git ${by} commit -qm one`], { cwd })
    return cwd
  }

  test('an earlier run', async () => {
    const cwd = committed()
    expect(await ran(cwd, `echo evil > .envrc; git add -f .; git ${by} commit -qm evil`)).toContain(refused)
    const found = '$(git for-each-ref --format="%(objectname)" refs/portcullis | head -n 1)'
    expect(await ran(cwd, `git update-ref refs/heads/main ${found}; git reset -q`)).toContain(refused)
    expect(log(cwd)).toBe('one\n')
  })

  test('a remote', async () => {
    const cwd = committed()
    const commands = `git switch -qc pr; echo evil > .envrc; git add -f .; git ${by} commit -qm pr; git update-ref refs/remotes/origin/pr HEAD; git switch -q -; git branch -qD pr`
    execFileSync('sh', ['-c', commands], { cwd })
    expect(await ran(cwd, 'git merge -q origin/pr')).toContain(refused)
    expect(log(cwd)).toBe('one\n')
  })

  test('a branch whose own links lead to protected places', async () => {
    const cwd = committed()
    const commands = `git switch -qc other; mkdir vs; echo ok > vs/tasks.json; ln -s vs .vscode; git add -A; git ${by} commit -qm other; git switch -q -`
    execFileSync('sh', ['-c', commands], { cwd })
    const script = `git checkout -q -b new other; echo evil > vs/tasks.json; git ${by} commit -qam evil`
    expect(await ran(cwd, script)).toContain(refused)
    expect(execFileSync('git', ['branch', '--format=%(refname:short)'], { cwd, encoding: 'utf8' })).not.toContain('new')
  })

  test('but what the user had checked out may be merged with other branches', async () => {
    const cwd = committed()
    const commands = `git switch -qc other; echo o > o; git add -A; git ${by} commit -qm other; git switch -q -; echo 1 > .envrc; git add -f .; git ${by} commit -qm envrc`
    execFileSync('sh', ['-c', commands], { cwd })
    await ran(cwd, `git ${by} merge -q other -m merged`)
    expect(log(cwd)).toContain('merged')
  })

  test('a link that leads to protected entries stays', async () => {
    const cwd = committed('mkdir vs; echo ok > vs/tasks.json; ln -s vs .vscode')
    expect(await ran(cwd, 'rm .vscode; echo b > a.txt')).toContain('.vscode')
    expect(lstatSync(join(cwd, '.vscode')).isSymbolicLink()).toBe(true)
  })

  test('a file that was not shown stays untracked', async () => {
    const cwd = committed()
    writeFileSync(join(cwd, '.env'), 'KEY=abcdefgh12345678\n')
    const script = `git update-index --add --cacheinfo 100644,$(echo x | git hash-object -w --stdin),.env; git ${by} commit -qm env`
    expect(await ran(cwd, script)).toContain(refused)
    expect(await ran(cwd, 'cat .env; true')).not.toContain('abcdefgh12345678')
  })

  test('an object that git refuses, and that no ref leads to, holds up no commit', async () => {
    const cwd = committed()
    const odd = 'printf "100644 blob $(echo x | git hash-object -w --stdin)\\t.git\\n" | git mktree'
    await ran(cwd, `echo g > g; git add g; git ${by} commit -qm good; ${odd}`)
    expect(log(cwd)).toBe('good\none\n')
  })
})

test.skipIf(needsBubblewrap())('what a nested repository names outside of itself does not land', async () => {
  const cwd = repository({ 'a.txt': 'a\n' })
  const prepare =
    'git init -q n; git -C n config include.path ../../inc; git -C n config core.hooksPath ../hk; ln -s ../../../scripts/x n/.git/hooks/pre-push'
  execFileSync('sh', ['-c', prepare], { cwd })
  const told = await ran(cwd, 'mkdir hk scripts; for f in inc hk/pre-commit scripts/x b; do echo evil > $f; done')
  expect(['inc', 'hk/pre-commit', 'scripts/x', 'b'].filter((path) => existsSync(join(cwd, path)))).toEqual(['b'])
  expect(told).toContain('hk/pre-commit')
})

test.skipIf(needsBubblewrap())('in place, a repository that a command has moved stays read-only', async () => {
  const cwd = repository({ 'a.txt': 'a\n' })
  execFileSync('sh', ['-c', `git init -q p/n; git -C p/n ${by} commit -q --allow-empty -m one`], { cwd })
  const calls = ['mv p q', 'sh evil.sh']
  writeFileSync(join(cwd, 'evil.sh'), 'echo "[core] fsmonitor = x" >> q/n/.git/config; rm -rf q/n/.git/objects; true')
  const replies = (index: number): Reply => (calls[index] === undefined ? [say('done')] : cmd(calls[index]))
  const ended = await exec(replies, ['--json', '--in-place', 'x'], { cwd })
  expect(ended.code, ended.stderr).toBe(0)
  const git = join(cwd, existsSync(join(cwd, 'q')) ? 'q' : 'p', 'n')
  expect(execFileSync('git', ['log', '--format=%s'], { cwd: git, encoding: 'utf8' })).toBe('one\n')
  expect(readFileSync(join(git, '.git/config'), 'utf8')).not.toContain('fsmonitor')
})

test.skipIf(needsBubblewrap())('in place, every event and the summary say that no change is judged', async () => {
  const inPlace = await exec([cmd('echo b > a.txt'), [say('done')]], ['--json', '--in-place', 'x'], {
    cwd: repository({ 'a.txt': 'a\n' }),
  })
  expect(inPlace.events.map((event) => ('in_place' in event ? event.in_place : undefined))).toEqual(
    inPlace.events.map(() => 'not judged'),
  )
  expect(inPlace.stderr).toMatch(/^model .*\(bubblewrap, in place: not judged\)/)
  expect(inPlace.stderr).toMatch(/^  in place: not judged$/m)
  const onView = await exec([[say('done')]], ['--json', 'x'], { cwd: repository() })
  expect(onView.events.filter((event) => 'in_place' in event)).toEqual([])
})

test.skipIf(needsBubblewrap())(
  'changes that did not land lie as a patch beside the report, but never in the tree',
  async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const reports = tempDir()
    const steps = (index: number): Reply => (index === 0 ? cmd('echo b > a.txt') : [say('done')])
    const ended = await exec(steps, ['--verify', 'false', '--report', join(reports, 'run.html'), 'x'], { cwd })
    expect(ended.code, ended.stderr).toBe(1)
    execFileSync('git', ['apply', join(reports, 'run.changes.patch')], { cwd })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\n')
    await exec(steps, ['--land', 'never', '-o', 'said.txt', 'x'], { cwd })
    await exec(steps, ['-o', join(reports, 'good.txt'), 'x'], { cwd: repository({ 'a.txt': 'a\n' }) })
    expect([readdirSync(cwd), readdirSync(reports)].flat().filter((name) => name.endsWith('.patch'))).toEqual([
      'run.changes.patch',
    ])
  },
)
