import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { cmd } from './overlay-runs.ts'

const by = 'git -c user.name=x -c user.email=x@x'

/**
 * The environment of a program that is killed after a landing or an undo has changed the tree, and before the session says so: at the first write of
 * the session's state that doesn't announce it any more.
 */
function killedBeforeNote(): Record<string, string> {
  const file = join(
    tempDir({
      'kill.cjs': `
        const fs = require('node:fs')
        const write = fs.writeFileSync
        let isPending = false
        fs.writeFileSync = (file, data, ...rest) => {
          if (String(file).endsWith('transaction.json.new')) {
            if (isPending && !String(data).includes('"pending"')) process.kill(process.pid, 'SIGKILL')
            isPending = String(data).includes('"pending"')
          }
          return write(file, data, ...rest)
        }
        require('node:module').syncBuiltinESMExports()`,
    }),
    'kill.cjs',
  )
  return { NODE_OPTIONS: `--require ${file}` }
}

/** Performs a run that changes a file, and returns functions that work with it. */
async function changed(command: string, args: readonly string[], env: Record<string, string> = {}, prepare = '') {
  const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
  const git = (...words: readonly string[]): string => execFileSync('git', words, { cwd, encoding: 'utf8' })
  execFileSync('sh', ['-c', `git add . && ${by} commit -qm first; ${prepare}`], { cwd })
  const run = (text: string, more: readonly string[] = [], variables: Record<string, string> = {}) =>
    exec([cmd(text), [say('done')]], ['--json', ...more, 'x'], { cwd, home, env: variables })
  const { events } = await run(command, args, env)
  const [first] = events
  const id = first?.type === 'thread.started' ? first.thread_id : ''
  const ask = (words: readonly string[], variables: Record<string, string> = {}) =>
    agent(words, { cwd, home, env: variables })
  return { cwd, home, git, id, run, ask, read: (path: string) => readFileSync(join(cwd, path), 'utf8') }
}

describe.skipIf(needsBubblewrap())(
  'a process that is killed before it notes in the session what it did to the tree',
  () => {
    test('leaves a landing that is known, even after another run has landed', async () => {
      const { id, run, ask, read } = await changed('echo x > a.txt', [], killedBeforeNote())
      expect(read('a.txt')).toBe('x\n')
      const other = await run('echo b > b.txt')
      expect((await ask(['changes', id])).stdout).toContain('  landed\n')
      const [first] = other.events
      const later = first?.type === 'thread.started' ? first.thread_id : ''
      expect((await ask(['undo', id])).stderr).toContain(
        `First revert what a later run landed: run agent undo ${later}.`,
      )
      expect((await ask(['undo', later])).code).toBe(0)
      expect((await ask(['undo', id])).stdout).toMatch(/^Reverted\./)
      expect(read('a.txt')).toBe('a\n')
    })

    test('leaves a landing that is known, even if only commits landed', async () => {
      const { git, id, ask } = await changed(`${by} commit -q --allow-empty -m second`, ['--land', 'never'])
      const before = git('rev-parse', 'HEAD')
      await ask(['apply', id], killedBeforeNote())
      expect(git('log', '--format=%s', '-n1')).toBe('second\n')
      expect((await ask(['undo', id])).stdout).toMatch(/^Reverted\./)
      expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual([before, ''])
    })

    test('leaves a landing of commits that is known, even after somebody has committed on top of them', async () => {
      const { cwd, git, id, ask } = await changed(`echo x > a.txt; ${by} commit -qam second`, ['--land', 'never'])
      await ask(['apply', id, '--land-commits'], killedBeforeNote())
      execFileSync('sh', ['-c', `echo t > t.txt && git add t.txt && ${by} commit -qm third`], { cwd })
      expect((await ask(['changes', id])).stdout).toMatch(/^commits: ma/m)
      expect((await ask(['undo', id])).stdout).toContain('The branch stays where it is.')
      expect(git('log', '--format=%s')).toBe('third\nsecond\nfirst\n')
    })

    test.each([
      ['a new branch', 'git branch new HEAD~1'],
      ['a new branch that is checked out', 'git checkout -q -b new'],
    ])('leaves a landing that is known, even if only %s landed', async (_, command) => {
      const prepare = `${by} commit -q --allow-empty -m second; git tag v0`
      const { git, id, ask } = await changed(command, ['--land', 'never'], {}, prepare)
      const refs = (): string => git('for-each-ref')
      const before = refs()
      await ask(['apply', id], killedBeforeNote())
      const landed = refs()
      expect(landed).not.toBe(before)
      expect((await ask(['changes', id])).stdout).toContain('  landed\n')
      expect((await ask(['undo', id], killedBeforeNote())).code).not.toBe(0)
      expect((await ask(['changes', id])).stdout).toContain('not landed in ')
      expect(refs()).toBe(before)
    })

    test('leaves an undo that is known, so that nothing else is undone', async () => {
      const { id, ask, read, run } = await changed('echo x > a.txt', [])
      const later = await run('echo y > a.txt')
      const [first] = later.events
      const other = first?.type === 'thread.started' ? first.thread_id : ''
      await ask(['undo', other], killedBeforeNote())
      expect(read('a.txt')).toBe('x\n')
      expect((await ask(['changes', other])).stdout).toContain('  taken back\n')
      expect((await ask(['undo', other])).stdout).toContain('already been reverted')
      expect((await ask(['undo', id])).stdout).toMatch(/^Reverted\./)
      expect(read('a.txt')).toBe('a\n')
    })

    test('says that a tree must be moved back, if it was moved away', async () => {
      const { cwd, home, id, ask } = await changed('echo x > a.txt', [], killedBeforeNote())
      renameSync(cwd, `${cwd}-moved`)
      for (const command of ['changes', 'undo', 'apply']) {
        const { code, stderr } = await agent([command, id], { cwd: `${cwd}-moved`, home })
        expect([code, stderr]).toEqual([1, expect.stringContaining('move it back, and try again')])
      }
      renameSync(`${cwd}-moved`, cwd)
      expect((await ask(['changes', id])).stdout).toContain('  landed\n')
    })
  },
)
