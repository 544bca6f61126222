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

test.skipIf(needsBubblewrap()).each([
  ['a hook that is a link', 'ln -s ../../scripts/pc.sh .git/hooks/pre-commit', 'scripts/pc.sh'],
  ['the directory of hooks that is a link', 'rm -r .git/hooks; ln -s ../gh .git/hooks', 'gh/pre-commit'],
  ['settings that are a link', 'mkdir c; mv .git/config c/gc; ln -s ../c/gc .git/config', 'c/gc'],
  ['included settings that are missing', 'git config include.path ../more.config', 'more.config'],
  ['a program that is missing', 'git config core.fsmonitor tools/fsm', 'tools/fsm'],
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
    expect(lstatSync(join(cwd, path), { throwIfNoEntry: false })).toBeUndefined()
    expect(ended.stderr).toContain(path)
    expect(execFileSync('git', ['log', '-1', '--format=%s'], { cwd, encoding: 'utf8' })).toBe('links\n')
  }
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
