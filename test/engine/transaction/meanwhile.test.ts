import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap, testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec } from '../../support/workspace.ts'
import { mountXfs } from '../../support/loop-file-system.ts'
import { fingerprint } from './fingerprint.ts'
import { cmd, reportOf, whyNoOverlay } from './overlay-runs.ts'

needsBubblewrap()
const xfs = mountXfs(300)
afterAll(() => (typeof xfs === 'string' ? undefined : xfs.close()))
const missing = { copy: undefined, overlay: whyNoOverlay(), reflink: typeof xfs === 'string' ? xfs : undefined }

const lines = (first: string, last: string): string => `${first}\n2\n3\n4\n5\n${last}\n`

/** A directory in which a view can be made with this strategy. */
function place(strategy: keyof typeof missing): string {
  return strategy === 'reflink' && typeof xfs !== 'string' ? mkdtempSync(join(xfs.directory, 'x')) : tempDir()
}

/**
 * Performs a run in a repository with two branches. Meanwhile, `theirs` does what another person might do in the repository.
 *
 * @param ours the command that the run executes; by default, it changes a file and makes another
 * @param before called when the repository is ready
 */
async function meanwhile(
  strategy: keyof typeof missing,
  theirs: (cwd: string) => void,
  ours = 'sed -i s/1/one/ a.txt; echo new > new.txt',
  before: (cwd: string) => void = () => undefined,
) {
  const base = place(strategy)
  const [cwd, home] = [join(base, 'tree'), join(base, 'home')]
  for (const directory of [cwd, home]) mkdirSync(directory)
  const git = ['-c', 'user.name=x', '-c', 'user.email=x@x']
  const commit = (message: string): void => {
    // Git treats a file as unchanged without reading it only if the file is older than the index.
    execFileSync('sh', ['-c', 'find . -name "*.txt" -exec touch -d 2020-01-01 {} +'], { cwd })
    execFileSync('git', ['add', '.'], { cwd })
    execFileSync('git', [...git, 'commit', '-qm', message], { cwd })
  }
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd })
  writeFileSync(join(cwd, 'a.txt'), lines('1', '6'))
  writeFileSync(join(cwd, 'b.txt'), 'b\n')
  mkdirSync(join(cwd, 'kept'))
  chmodSync(join(cwd, 'kept'), 0o755)
  commit('first')
  execFileSync('git', ['checkout', '-q', '-b', 'other'], { cwd })
  writeFileSync(join(cwd, 'a.txt'), lines('1', 'six'))
  commit('theirs')
  execFileSync('git', ['checkout', '-q', 'main'], { cwd })
  execFileSync('sh', ['-c', 'touch -d 2020-01-01 a.txt && git update-index -q --refresh'], { cwd })
  before(cwd)
  let after: unknown
  const ended = await exec(
    (index) => {
      if (index !== 1) return index === 0 ? cmd(ours) : [say('done')]
      theirs(cwd)
      after = fingerprint(cwd)
      return [say('done')]
    },
    ['--json', `--view=${strategy}`, 'x'],
    { cwd, home },
  )
  const read = (path: string) => (existsSync(join(cwd, path)) ? readFileSync(join(cwd, path), 'utf8') : undefined)
  return { cwd, ended, report: reportOf(ended), after: () => expect(fingerprint(cwd)).toEqual(after), read }
}

describe.each(['copy', 'overlay', 'reflink'] as const)('somebody who works in the tree of a run by %s', (strategy) => {
  const one = testUnless(whyNoBubblewrap() ?? missing[strategy])

  one('keeps their changes in a file that the run replaced with a directory', async () => {
    const { ended, report, after } = await meanwhile(
      strategy,
      (cwd) => writeFileSync(join(cwd, 'b.txt'), 'theirs\n'),
      'rm b.txt; mkdir b.txt; echo x > b.txt/x; echo new > new.txt',
    )
    expect([ended.code, report?.outcome]).toEqual([1, 'conflict'])
    after()
  })

  // An overlay keeps no record of a directory that was removed below it, so the changed directory looks like a new one.
  if (strategy !== 'overlay')
    one('does not make a directory again that they removed', async () => {
      const { ended, report, after } = await meanwhile(
        strategy,
        (cwd) => rmSync(join(cwd, 'kept'), { recursive: true }),
        'chmod 775 kept; echo new > new.txt',
      )
      expect([ended.code, report?.outcome]).toEqual([1, 'conflict'])
      after()
    })

  one('may remove a file that the run rewrote without changing it', async () => {
    const { report, read } = await meanwhile(
      strategy,
      (cwd) => rmSync(join(cwd, 'b.txt')),
      'cat b.txt > c; cat c > b.txt; rm c; echo new > new.txt',
    )
    expect([report?.outcome, read('b.txt'), read('new.txt')]).toEqual(['landed', undefined, 'new\n'])
  })

  one.each([
    ['made it private', (cwd: string) => chmodSync(join(cwd, 'kept'), 0o700)],
    ['closed it to others', (cwd: string) => chmodSync(join(cwd, 'kept'), 0o711)],
  ])('is told if the run changed the mode of a directory, and they %s', async (_, theirs) => {
    const { ended, report, after } = await meanwhile(strategy, theirs, 'chmod 775 kept; echo new > new.txt')
    expect([ended.code, report?.outcome]).toEqual([1, 'conflict'])
    after()
  })

  one('keeps files in a directory that they checked out again', async () => {
    const { cwd, report, read } = await meanwhile(
      strategy,
      (at) => execFileSync('sh', ['-c', 'git checkout -q bare && git checkout -q main'], { cwd: at }),
      'echo new > src/new.txt',
      (at) =>
        execFileSync(
          'sh',
          [
            '-c',
            'git branch bare && mkdir src && echo x > src/x.txt && git add . && git -c user.name=x -c user.email=x@x commit -qm src',
          ],
          { cwd: at },
        ),
    )
    expect(report?.outcome).toBe('landed')
    expect([readdirSync(join(cwd, 'src')), read('src/x.txt')]).toEqual([['new.txt', 'x.txt'], 'x\n'])
  })

  one('keeps files in a directory that they moved to where another one was', async () => {
    const { cwd, report, read } = await meanwhile(
      strategy,
      (at) =>
        execFileSync(
          'sh',
          ['-c', `mv kept away && mkdir kept && echo mine > kept/mine && touch -d 2020-01-01 kept/mine`],
          {
            cwd: at,
          },
        ),
      'echo new > kept/new.txt',
    )
    expect(report?.outcome).toBe('landed')
    expect([readdirSync(join(cwd, 'kept')), read('kept/mine')]).toEqual([['mine', 'new.txt'], 'mine\n'])
  })

  one('keeps files of a tree that they moved to where the other one was', async () => {
    const { cwd, read } = await meanwhile(
      strategy,
      (at) =>
        execFileSync('sh', ['-c', `mv ${at} ${at}-old && mkdir ${at} && echo mine > ${at}/mine && rm -rf ${at}-old`]),
      'echo new > new.txt',
    )
    expect([readdirSync(cwd), read('mine')]).toEqual([['mine', 'new.txt'], 'mine\n'])
  })

  one('keeps their changes in other files', async () => {
    const { report, read } = await meanwhile(strategy, (cwd) => {
      writeFileSync(join(cwd, 'b.txt'), 'theirs\n')
      writeFileSync(join(cwd, 'c.txt'), 'theirs\n')
    })
    expect(report).toMatchObject({ strategy, outcome: 'landed', merged: [] })
    expect(['a.txt', 'b.txt', 'c.txt', 'new.txt'].map(read)).toEqual([
      lines('one', '6'),
      'theirs\n',
      'theirs\n',
      'new\n',
    ])
  })

  one('keeps their changes in other lines of the same file', async () => {
    const { cwd, report, read } = await meanwhile(strategy, (at) => writeFileSync(join(at, 'a.txt'), lines('1', 'six')))
    expect(report).toMatchObject({ strategy, outcome: 'landed', merged: [join(cwd, 'a.txt')] })
    expect(['a.txt', 'new.txt'].map(read)).toEqual([lines('one', 'six'), 'new\n'])
  })

  one('keeps the line that both changed: nothing lands', async () => {
    const { cwd, ended, report, after, read } = await meanwhile(strategy, (at) =>
      writeFileSync(join(at, 'a.txt'), lines('eins', '6')),
    )
    expect([ended.code, report?.outcome, report?.conflicts.map(({ path }) => path)]).toEqual([
      1,
      'conflict',
      [join(cwd, 'a.txt')],
    ])
    after()
    expect(read('new.txt')).toBeUndefined()
    expect(readFileSync(report?.patch ?? '', 'utf8')).toContain('+one')
  })

  one('keeps a file in which they took back a change that they had not committed: nothing lands', async () => {
    const { ended, report, after } = await meanwhile(
      strategy,
      (cwd) => execFileSync('git', ['checkout', '-q', 'a.txt'], { cwd }),
      'sed -i s/1/one/ a.txt',
      (cwd) => writeFileSync(join(cwd, 'a.txt'), lines('1', 'not committed')),
    )
    expect([ended.code, report?.outcome]).toEqual([1, 'conflict'])
    after()
  })

  one('finds the file that they removed still removed: nothing lands', async () => {
    const { ended, report, after } = await meanwhile(strategy, (cwd) => rmSync(join(cwd, 'a.txt')))
    expect([ended.code, report?.outcome, report?.conflicts]).toMatchObject([
      1,
      'conflict',
      [{ why: 'someone else removed it' }],
    ])
    after()
  })

  one('may check out another branch', async () => {
    const { cwd, report, read } = await meanwhile(strategy, (at) =>
      execFileSync('git', ['checkout', '-q', 'other'], { cwd: at }),
    )
    expect(report).toMatchObject({ strategy, outcome: 'landed', merged: [join(cwd, 'a.txt')] })
    expect(['a.txt', 'new.txt'].map(read)).toEqual([lines('one', 'six'), 'new\n'])
    expect(execFileSync('git', ['symbolic-ref', 'HEAD'], { cwd, encoding: 'utf8' })).toBe('refs/heads/other\n')
  })
})
