import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { fingerprint } from './fingerprint.ts'
import { cmd, onOverlay, outputOf, reportOf, whyNoOverlay } from './overlay-runs.ts'

const by = '-c user.name=x -c user.email=x@x'
const commitOf = (name: string): string =>
  `git init -q -b main && echo ${name} > ${name} && git add ${name} && git ${by} commit -qm ${name}`

/** A repository with another one in it that it doesn't track. */
function withNested(more = 'true'): string {
  const cwd = tempDir()
  const script = `${commitOf('outer')}; mkdir -p vendor/nested; (cd vendor/nested && ${commitOf('inner')}); ${more}`
  execFileSync('sh', ['-c', script], { cwd })
  return cwd
}

const strategies = [
  { how: 'copy', test: testUnless(whyNoBubblewrap()) },
  { how: 'overlay', test: testUnless(whyNoBubblewrap() ?? whyNoOverlay()) },
]

describe.each(strategies)('in a view ($how), a repository within the work tree of another one', ({ how, test: it }) => {
  it('can be used from anywhere, and its commits land', async () => {
    const cwd = withNested()
    const nested = join(cwd, 'vendor/nested')
    const read = `cd vendor/nested && git status --porcelain && git log --format=%s && cd / && git -C ${nested} cat-file -p HEAD:inner`
    const commit = `cd vendor && echo more >> nested/inner && git -C nested ${by} commit -qam second && git -C nested log --format=%s`
    const ended = await onOverlay(cwd, [cmd(read), cmd(commit)], { how })
    expect(outputOf(ended)).toBe('inner\ninner\nsecond\ninner\n')
    const report = reportOf(ended)
    expect(report).toMatchObject({ outcome: 'landed', commits: [{ path: nested }], repositories: [] })
    const git = (...words: string[]): string =>
      execFileSync('git', ['-C', nested, ...words], { encoding: 'utf8' }).trimEnd()
    expect(git('log', '--format=%s', 'main')).toBe('second\ninner')
    git('fsck', '--strict')
  })

  it('has private objects and settings, so that no command changes those of the original', async () => {
    const cwd = withNested()
    const nested = join(cwd, 'vendor/nested')
    const before = fingerprint(join(nested, '.git'))
    const command = `cd vendor/nested; git config core.fsmonitor evil; git ${by} commit -q --allow-empty -m second; git gc -q
      find .git/objects .git/portcullis -type f -exec sh -c 'chmod u+w "$0"; echo x > "$0"; rm -f "$0"' {} \\; ; rm -rf .git/portcullis .git/config`
    const ended = await onOverlay(cwd, [cmd(command)], { how, args: ['--land', 'never'] })
    expect(ended.code, ended.stderr).toBe(0)
    expect(fingerprint(join(nested, '.git'))).toEqual(before)
  })

  it('may borrow objects from the outer one', async () => {
    const cwd = withNested('git clone -q --shared . vendor/clone')
    const command = `cd vendor/clone && git log --format=%s && echo b > outer && git ${by} commit -qam second`
    const ended = await onOverlay(cwd, [cmd(command), cmd('git -C vendor/clone show --format=%s -s')], { how })
    expect(outputOf(ended)).toBe('outer\nsecond\n')
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', commits: [{ path: join(cwd, 'vendor/clone') }] })
    expect(readFileSync(join(cwd, 'vendor/clone/outer'), 'utf8')).toBe('b\n')
  })

  it('lands only as files if it is a work tree that the run added, so that nothing refers to the view', async () => {
    const [base, script] = [tempDir(), commitOf('outer')]
    const [cwd, beside] = [join(base, 'tree'), join(base, 'beside')]
    for (const directory of [cwd, beside]) mkdirSync(directory)
    execFileSync('sh', ['-c', script], { cwd })
    const steps = [
      cmd(`git worktree add -q sub -b one && cd sub && echo n > new.txt && git add . && git ${by} commit -qm second`),
      cmd('git worktree add -q ../beside/x -b two; git worktree list'),
    ]
    const ended = await onOverlay(cwd, steps, { how, args: ['--add-dir', beside] })
    expect([ended.code, reportOf(ended)?.outcome]).toEqual([0, 'landed'])
    const git = (...words: string[]): string => execFileSync('git', words, { cwd, encoding: 'utf8' }).trimEnd()
    expect(git('worktree', 'list', '--porcelain')).toMatch(
      /^worktree [^\n]*\/tree\nHEAD \w+\nbranch refs\/heads\/main$/,
    )
    expect(existsSync(join(cwd, '.git/worktrees'))).toBe(false)
    expect([readdirSync(join(cwd, 'sub')), readdirSync(join(beside, 'x'))]).toEqual([['new.txt', 'outer'], ['outer']])
    expect(git('status', '--porcelain')).toBe('?? sub/')
    expect(git('log', '--format=%s', 'one')).toBe('second\nouter')
    expect(reportOf(ended)?.not_landed).toEqual([join(cwd, 'sub/.git'), join(beside, 'x/.git')])
  })
})
