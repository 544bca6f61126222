import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { by, committing, type Git } from './committing.ts'
import { cmd } from './overlay-runs.ts'

const twoCommits = `echo x > a.txt && git ${by} commit -qam second && echo y > new.txt && git add new.txt && git ${by} commit -qm third`

describe.skipIf(needsBubblewrap())('commits of a run', () => {
  test('that did not land are fetched with the command that the summary gives, and are kept until then', async () => {
    const script = `git checkout -qb side && git ${by} commit -qm aside --allow-empty && git checkout -q main`
    const { cwd, git, report, ended, ask } = await committing(script, { args: ['--land', 'never'] })
    expect((await ask('sessions', 'prune', '--days', '0')).stdout).toContain('0 sessions removed')
    const fetch = /to fetch them: (.*)/.exec(ended.stderr)?.[1] ?? ''
    expect(fetch).toMatch(/^git fetch /)
    execFileSync('sh', ['-c', fetch], { cwd, stdio: 'ignore' })
    expect(git('log', '-1', '--format=%s', `refs/portcullis/${report?.run}/heads/side`)).toBe('aside')
  })

  test('are taken back although they were applied again', async () => {
    const { git, first, ask } = await committing(twoCommits)
    expect((await ask('apply', '--last')).stdout).toContain('Nothing to do')
    expect((await ask('changes', '--last')).stdout).toContain('commits: main moved to ')
    expect((await ask('undo', '--last')).code).toBe(0)
    expect([git('rev-parse', 'main'), git('status', '--porcelain')]).toEqual([first, ''])
  })

  test('move the checked-out branch, together with index and tree', async () => {
    const { cwd, git, first, report, read, ask } = await committing(`${twoCommits}; echo left > b.txt`, {})
    expect(git('log', '--format=%s')).toBe('third\nsecond\nfirst')
    expect([git('symbolic-ref', 'HEAD'), git('status', '--porcelain')]).toEqual(['refs/heads/main', ' M b.txt'])
    expect([read('a.txt'), read('b.txt'), read('new.txt')]).toEqual(['x\n', 'left\n', 'y\n'])
    expect(report).toMatchObject({ commits: [{ moved: { branch: 'refs/heads/main', old: first } }] })
    const undone = await ask('undo', '--last')
    expect([undone.code, undone.stdout]).toEqual([0, expect.stringMatching(/^Reverted\./)])
    expect([git('rev-parse', 'main'), git('status', '--porcelain'), existsSync(join(cwd, 'new.txt'))]).toEqual([
      first,
      '',
      false,
    ])
    expect((await ask('undo', '--last')).stdout).toContain('already been reverted')
    expect((await ask('apply', '--last')).stdout).toContain('commits: main moved to ')
    expect([git('log', '--format=%s'), git('status', '--porcelain')]).toEqual(['third\nsecond\nfirst', ' M b.txt'])
  })

  test('that change no file land too', async () => {
    const { git, report } = await committing(`git ${by} commit -q --allow-empty -m empty`)
    expect([report?.outcome, git('log', '--format=%s')]).toEqual(['nothing', 'empty\nfirst'])
  })

  test.each([
    [
      'has moved meanwhile',
      (git: Git) => git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '--allow-empty', '-m', 'theirs'),
      'main now points to a different commit',
    ],
    ['is another meanwhile', (git: Git) => git('checkout', '-q', '-b', 'other'), 'main is no longer checked out'],
  ] as const)('do not move a branch that %s', async (_, before, why) => {
    let [head, branch] = ['', '']
    const { git, report, read } = await committing(twoCommits, {
      before: (run) => {
        before(run)
        ;[head, branch] = [run('rev-parse', 'HEAD'), run('symbolic-ref', 'HEAD')]
      },
    })
    expect([git('rev-parse', 'HEAD'), git('symbolic-ref', 'HEAD'), read('a.txt')]).toEqual([head, branch, 'x\n'])
    expect(report).toMatchObject({ outcome: 'landed', commits: [{ stayed: why }] })
    expect(git('log', '--format=%s', `refs/portcullis/${report?.run}/heads/main`)).toBe('third\nsecond\nfirst')
  })

  test('move the branch if somebody has staged other files, but not if they conflict', async () => {
    const beside = await committing(twoCommits, {
      before: (git) => {
        writeFileSync(join(git('rev-parse', '--show-toplevel'), 'b.txt'), 'theirs\n')
        git('add', 'b.txt')
      },
    })
    expect([beside.git('log', '-1', '--format=%s'), beside.git('status', '--porcelain')]).toEqual(['third', 'M  b.txt'])
    const over = await committing(twoCommits, {
      before: (git) => {
        const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
          cwd: git('rev-parse', '--show-toplevel'),
          input: 'staged\n',
          encoding: 'utf8',
        }).trimEnd()
        git('update-index', '--cacheinfo', `100644,${blob},a.txt`)
      },
    })
    expect(over.git('rev-parse', 'HEAD')).toBe(over.first)
    expect(over.report?.commits[0]?.stayed).toContain('staged changes conflict with the commits')
  })

  test('are reverted together with the index, which is then byte for byte the same as before the run', async () => {
    let staged: Buffer | undefined
    const { cwd, git, first, ask, read } = await committing(
      `echo x > a.txt; git add a.txt; git ${by} commit -qm second`,
      {
        prepare: (run, at) => {
          writeFileSync(join(at, 'b.txt'), 'staged\n')
          writeFileSync(join(at, 'fresh.txt'), 'fresh\n')
          run('add', '.')
          writeFileSync(join(at, 'b.txt'), 'not staged\n')
          staged = readFileSync(join(at, '.git/index'))
        },
      },
    )
    // The commit of the run contains what was staged in its view.
    expect([git('show', 'HEAD:b.txt'), git('status', '--porcelain')]).toEqual(['staged', ' M b.txt'])
    expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
    expect(readFileSync(join(cwd, '.git/index'))).toEqual(staged)
    expect([git('rev-parse', 'HEAD'), git('show', ':b.txt'), read('b.txt')]).toEqual([first, 'staged', 'not staged\n'])
    expect(git('status', '--porcelain')).toBe('MM b.txt\nA  fresh.txt')
  })

  test('are not reverted if other changes have been staged since, and the reason is reported', async () => {
    const { cwd, git, first, ask } = await committing(twoCommits)
    writeFileSync(join(cwd, 'b.txt'), 'mine\n')
    git('add', 'b.txt')
    const undone = await ask('undo', '--last')
    expect(undone.stdout).toContain(`The branch stays where it is. ${cwd}: other changes have been staged since;`)
    expect([git('log', '-1', '--format=%s'), git('show', ':b.txt')]).toEqual(['third', 'mine'])
    execFileSync('sh', ['-c', /run (git reset .*)/.exec(undone.stdout)?.[1] ?? 'false'], { cwd })
    expect([git('rev-parse', 'HEAD'), git('show', ':b.txt')]).toEqual([first, 'mine'])
  })

  const merging = (git: Git): void => {
    git('checkout', '-q', '-b', 'side')
    git(...by.split(' '), 'commit', '-q', '--allow-empty', '-m', 'side')
    git('checkout', '-q', 'main')
    git(...by.split(' '), 'commit', '-q', '--allow-empty', '-m', 'ours')
    git(...by.split(' '), 'merge', '-q', '--no-commit', '--no-ff', '-s', 'ours', 'side')
  }
  test.each([
    ['a merge', merging, 'MERGE_HEAD'],
    ['a cherry-pick', (git: Git) => git('update-ref', '--no-deref', 'CHERRY_PICK_HEAD', 'main'), 'CHERRY_PICK_HEAD'],
    ['a revert', (git: Git) => git('update-ref', '--no-deref', 'REVERT_HEAD', 'main'), 'REVERT_HEAD'],
    ['a bisect', (git: Git) => git('bisect', 'start'), 'BISECT_START'],
  ] as const)(
    'do not move the branch during %s, which is still in progress after an undo',
    async (name, prepare, file) => {
      const { cwd, git, report, ask } = await committing(`echo x > a.txt; git ${by} commit -qam concluded`, {
        prepare,
      })
      const branch = `refs/portcullis/${report?.run}/heads/main`
      const stayed = `${name} is in progress; conclude or abort it first`
      expect(report).toMatchObject({ outcome: 'landed', commits: [{ stayed, ref: branch }] })
      const kept = (): unknown => [git('rev-parse', 'main'), existsSync(join(cwd, '.git', file)), git('ls-files', '-s')]
      const before = kept()
      expect(git('log', '-1', '--format=%s', branch)).toBe('concluded')
      expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
      expect(kept()).toEqual(before)
    },
  )

  test('are not reverted while a merge that was begun since is in progress', async () => {
    const { git, ask } = await committing(twoCommits)
    const third = git('rev-parse', 'HEAD')
    git('update-ref', '--no-deref', 'MERGE_HEAD', 'main~1')
    expect((await ask('undo', '--last')).stdout).toContain('a merge is in progress; conclude or abort it')
    expect(git('rev-parse', 'main')).toBe(third)
  })

  test('land together with the files or not at all: not while another git holds its lock', async () => {
    const locked = await committing(twoCommits, {
      before: (git) => writeFileSync(join(git('rev-parse', '--absolute-git-dir'), 'index.lock'), ''),
    })
    expect([locked.ended.code, locked.report?.outcome, locked.report?.commits]).toEqual([1, 'failed', []])
    expect(locked.ended.stderr).toContain('index.lock exists: a git process is working in the repository')
    expect([locked.read('a.txt'), locked.git('rev-parse', 'main'), locked.git('branch', '--list')]).toEqual([
      'a\n',
      locked.first,
      '* main',
    ])
    rmSync(join(locked.cwd, '.git/index.lock'))
    expect((await locked.ask('apply', '--last')).code).toBe(0)
    expect([locked.git('log', '-1', '--format=%s'), locked.git('status', '--porcelain')]).toEqual(['third', ''])
  })

  test('are reverted even if git has packed the refs since', async () => {
    const { git, first, ask } = await committing(twoCommits)
    git('pack-refs', '--all')
    expect((await ask('undo', '--last')).code).toBe(0)
    expect([git('for-each-ref', '--format=%(objectname) %(refname)'), git('status', '--porcelain')]).toEqual([
      `${first} refs/heads/main`,
      '',
    ])
    git('fsck', '--strict')
  })

  test('are reverted when another git has released its lock', async () => {
    const { cwd, git, first, ask } = await committing(twoCommits)
    const lock = join(cwd, '.git/index.lock')
    writeFileSync(lock, '')
    // The undo creates its own lock file just before it notices `index.lock`.
    const watcher = watch(join(cwd, '.git'), (_, name) => {
      if (/^\.apply-patch-.*-lock/.test(name ?? '')) rmSync(lock, { force: true })
    })
    const undone = await ask('undo', '--last')
    watcher.close()
    expect([undone.code, undone.stderr, existsSync(lock)]).toEqual([
      ...[0, expect.stringMatching(/^The newest run here: \S+\n$/), false],
    ])
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), existsSync(join(cwd, 'new.txt'))]).toEqual([
      first,
      '',
      false,
    ])
  })

  test('are not reverted while another git holds its lock, and neither are the files', async () => {
    const { cwd, git, ask } = await committing(twoCommits)
    writeFileSync(join(cwd, '.git/index.lock'), '')
    const undone = await ask('undo', '--last')
    expect([undone.code, undone.stderr]).toEqual([
      1,
      expect.stringContaining(`Nothing was reverted. ${cwd}/.git/index.lock exists: a git process is working`),
    ])
    rmSync(join(cwd, '.git/index.lock'))
    expect([git('log', '-1', '--format=%s'), existsSync(join(cwd, 'new.txt'))]).toEqual(['third', true])
    expect((await ask('undo', '--last')).code).toBe(0)
  })

  test('are not reverted if the branch has moved since', async () => {
    const { git, ask } = await committing(twoCommits)
    git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '--allow-empty', '-m', 'mine')
    const undone = await ask('undo', '--last')
    expect(undone.stdout).toContain('The branch stays where it is.')
    expect(git('log', '-1', '--format=%s')).toBe('mine')
  })

  test('are not in the repository before the run lands, or if it does not', async () => {
    const { git, first, report, ask } = await committing(twoCommits, { args: ['--land', 'never'] })
    expect([git('for-each-ref', '--format=%(refname)'), git('rev-parse', 'HEAD')]).toEqual(['refs/heads/main', first])
    expect(git('count-objects')).toMatch(/^[45] objects/)
    expect(report).toMatchObject({ outcome: 'kept', commits: [], repositories: [{}] })
    expect((await ask('apply', '--last')).stdout).toContain('commits: main moved to ')
    expect(git('log', '--format=%s')).toBe('third\nsecond\nfirst')
  })

  test('start a branch without commits', async () => {
    const [cwd, home] = [repository({ 'a.txt': 'a\n' }), tempDir()]
    const git: Git = (...words) => execFileSync('git', words, { cwd, encoding: 'utf8' }).trimEnd()
    await exec([cmd(`git add . && git ${by} commit -qm first`), [say('done')]], ['x'], { cwd, home })
    expect([git('log', '--format=%s'), git('status', '--porcelain')]).toEqual(['first', ''])
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    expect([git('status', '--porcelain'), git('for-each-ref')]).toEqual(['?? a.txt', ''])
  })

  test('have the same result as the same command in the tree itself', async () => {
    const { git, report, read } = await committing(twoCommits)
    const plain = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'out\n' })
    const theirs: Git = (...words) => execFileSync('git', words, { cwd: plain, encoding: 'utf8' }).trimEnd()
    execFileSync('sh', ['-c', `git checkout -q -b main; git add .; git ${by} commit -qm first; ${twoCommits}`], {
      cwd: plain,
    })
    expect(git('ls-files', '-s')).toBe(theirs('ls-files', '-s'))
    expect(git('log', '--format=%s %T')).toBe(theirs('log', '--format=%s %T'))
    expect([read('new.txt'), report?.outcome]).toEqual(['y\n', 'landed'])
  })
})
