import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { snapshot } from '../../apply-patch/files/tree-tools.ts'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { signalsAt } from '../../support/signals-at.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { by, committing } from './committing.ts'

const made = `echo x > a.txt; git ${by} commit -qam second; git checkout -qb side; git ${by} commit -q --allow-empty -m aside; git checkout -q main`

/** The environment of a program that is killed as soon as a pack is in the repository. */
function killedWithPack(): Record<string, string> {
  const file = join(
    tempDir({
      'kill.cjs': `
        const fs = require('node:fs')
        const isPack = (path) => /\\/pack-[0-9a-f]+\\.idx$/.test(String(path))
        for (const name of ['renameSync', 'linkSync']) {
          const call = fs[name]
          fs[name] = (from, to) => {
            call(from, to)
            if (isPack(to)) process.kill(process.pid, 'SIGKILL')
          }
        }
        require('node:module').syncBuiltinESMExports()`,
    }),
    'kill.cjs',
  )
  return { NODE_OPTIONS: `--require ${file}` }
}

describe.skipIf(needsBubblewrap())('the objects of a repository', () => {
  /** A run with commits, none of which has landed, and a function that looks at the objects of the repository. */
  const unlanded = async () => {
    const run = await committing(made, { args: ['--land', 'never'] })
    return { ...run, objects: () => snapshot(join(run.cwd, '.git/objects')) }
  }

  test('are as before if the landing fails because of a lock', async () => {
    const { cwd, git, objects, ask } = await unlanded()
    const before = objects()
    writeFileSync(join(cwd, '.git/index.lock'), '')
    expect((await ask('apply', '--last')).code).toBe(1)
    expect(objects()).toEqual(before)
    rmSync(join(cwd, '.git/index.lock'))
    expect((await ask('apply', '--last')).code).toBe(0)
    expect([git('log', '-1', '--format=%s'), git('log', '-1', '--format=%s', 'side')]).toEqual(['second', 'aside'])
    git('fsck', '--strict', '--connectivity-only')
  })

  test('are as before if the landing fails because of a conflict', async () => {
    const { cwd, objects, ask } = await unlanded()
    writeFileSync(join(cwd, 'a.txt'), 'mine\n')
    const before = objects()
    expect((await ask('apply', '--last')).code).toBe(1)
    expect(objects()).toEqual(before)
  })

  test.each([
    ['is written', 'openSync', 1],
    ['gets its name', 'linkSync', 3],
  ])('are as before if a signal comes while their pack %s', async (_, call, nth) => {
    const { cwd, home, objects, report } = await unlanded()
    const before = objects()
    const args = ['apply', report?.run ?? '']
    const env = signalsAt(['SIGINT', { call, path: '/objects/pack/.apply-patch-', nth }])
    expect((await agent(args, { cwd, home, env })).code).toBe(130)
    expect(objects()).toEqual(before)
  })

  test('are restored after a kill by the next command that reads the session', async () => {
    const { cwd, home, git, objects, report, ask } = await unlanded()
    const before = objects()
    const args = ['apply', report?.run ?? '', '--land-commits']
    await agent(args, { cwd, home, env: killedWithPack() })
    expect(objects()).not.toEqual(before)
    expect((await ask('changes', '--last')).stdout).toContain('  not landed\n')
    expect(objects()).toEqual(before)
    expect((await ask('apply', '--last', '--land-commits')).code).toBe(0)
    expect(git('log', '-1', '--format=%s')).toBe('second')
  })

  test('do not change if a run only moves refs', async () => {
    const { cwd, git, ask } = await committing('git branch new', { args: ['--land', 'never'] })
    const before = snapshot(join(cwd, '.git/objects'))
    expect((await ask('apply', '--last', '--land-commits')).code).toBe(0)
    expect([git('rev-parse', 'new'), snapshot(join(cwd, '.git/objects'))]).toEqual([git('rev-parse', 'main'), before])
  })
})
