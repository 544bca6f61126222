import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap, testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'
import { by, committing, type Git } from './committing.ts'
import { cmd, onOverlay, reportOf, whyNoOverlay } from './overlay-runs.ts'

const commit = (git: Git, message: string): string =>
  git(...by.split(' '), 'commit', '-q', '--allow-empty', '-m', message)

/** Makes a second commit on `main`, and the branch `other` with one more commit, which changes a file. */
function twoBranches(git: Git, cwd: string): void {
  writeFileSync(join(cwd, 'b.txt'), 'second\n')
  git(...by.split(' '), 'commit', '-qam', 'second')
  git('checkout', '-q', '-b', 'other')
  writeFileSync(join(cwd, 'a.txt'), 'other\n')
  git(...by.split(' '), 'commit', '-qam', 'third')
  git('checkout', '-q', 'main')
}

/** Makes a repository or a work tree below the top of the workspace. */
type Make = (git: Git, at: string) => void

const places: readonly (readonly [string, Make])[] = [
  ['a repository in the workspace', (git, at) => void git('init', '-q', '-b', 'main', at)],
  ['a linked worktree in the workspace', (git, at) => void git('worktree', 'add', '-q', '-b', 'side', at)],
  [
    'a submodule in the workspace',
    (git, at) => {
      const library = repository({ 'l.txt': 'l\n' })
      const there: Git = (...words) => git('-C', library, ...words)
      there('add', '.')
      commit(there, 'library')
      git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'in/ner')
      git('-C', at, 'checkout', '-qB', 'main')
      commit(git, 'submodule')
    },
  ],
]

const refsOf = (git: Git): string => git('for-each-ref', '--format=%(objectname) %(refname)')
const lands = { args: ['--land-commits'], prepare: twoBranches }

for (const how of ['copy', 'overlay'] as const) {
  const missing = whyNoBubblewrap() ?? (how === 'overlay' ? whyNoOverlay() : undefined)
  describe.skipIf(missing !== undefined)(`with ${how}, refs that a run changes without new commits`, () => {
    testUnless(missing, test).each([
      ['forwards with git merge', 'git merge -q --ff-only other', 'third'],
      ['backwards with git reset --hard', 'git reset -q --hard HEAD~1', 'first'],
      ['backwards with git reset --soft', 'git reset -q --soft HEAD~1', 'first'],
    ])('land by moving the checked-out branch %s, and an undo moves it back', async (_, command, subject) => {
      let before = ''
      const { git, cwd, report, ask } = await committing(command, {
        ...lands,
        how,
        before: (git) => (before = refsOf(git)),
      })
      expect([git('log', '-1', '--format=%s'), git('symbolic-ref', 'HEAD')]).toEqual([subject, 'refs/heads/main'])
      const isSoft = command.includes('--soft')
      expect(git('status', '--porcelain')).toBe(isSoft ? ' M b.txt' : '')
      expect(git('branch', '--list', 'portcullis*')).toBe('')
      const moved = { path: cwd, commit: git('rev-parse', 'main'), moved: { branch: 'refs/heads/main' } }
      expect(report).toMatchObject({ commits: [moved], repositories: [], can_undo: true })
      expect(report).not.toHaveProperty('refs_not_landed')
      expect((await ask('changes', '--last')).stdout).toContain('commits: main moved to ')
      expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
      expect([refsOf(git), git('status', '--porcelain')]).toEqual([before, ''])
    })

    testUnless(missing, test)('land as new branches, tags and notes, and an undo removes them', async () => {
      const script = `git branch new; git branch deep/er other; git tag light; git ${by} tag -a -m t heavy other; git ${by} notes add -m note`
      let before = ''
      const { git, report, ask } = await committing(script, { ...lands, how, before: (git) => (before = refsOf(git)) })
      expect(git('rev-parse', 'new', 'deep/er', 'light', 'heavy^{commit}').split('\n')).toEqual(
        git('rev-parse', 'main', 'other', 'main', 'other').split('\n'),
      )
      expect([git('cat-file', '-t', 'heavy'), git('notes', 'show')]).toEqual(['tag', 'note'])
      const names = ['heads/deep/er', 'heads/new', 'notes/commits', 'tags/heavy', 'tags/light']
      expect(report?.refs?.map(({ ref }) => ref)).toEqual(names.map((name) => `refs/${name}`))
      expect([report?.commits, report?.repositories, git('branch', '--list', 'portcullis*')]).toEqual([[], [], ''])
      git('fsck', '--strict')
      expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
      expect(refsOf(git)).toBe(before)
    })
  })

  testUnless(missing, test).each(places)(`with ${how}, the branch of %s moves, too`, async (_, make) => {
    const { cwd, home, git } = await committing('true')
    const at = join(cwd, 'in/ner')
    const inner: Git = (...words) => git('-C', at, ...words)
    make(git, at)
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(at, name), 'first\n')
    inner('add', '.')
    commit(inner, 'first')
    inner('branch', 'next')
    inner('checkout', '-q', 'next')
    writeFileSync(join(at, 'a.txt'), 'next\n')
    inner(...by.split(' '), 'commit', '-qam', 'next')
    inner('checkout', '-q', '-')
    const [before, branch, status] = [refsOf(inner), inner('symbolic-ref', 'HEAD'), git('status', '--porcelain')]
    const merge = 'git merge -q --ff-only next && git branch made && git tag light'
    const ended = await onOverlay(cwd, [[call('exec_command', { cmd: merge, workdir: at })]], {
      how,
      home,
      args: ['--land-commits'],
    })
    const report = reportOf(ended)
    expect(report).toMatchObject({ commits: [{ path: at, moved: { branch } }], repositories: [] })
    expect(report?.refs?.map(({ ref }) => ref)).toEqual(['refs/heads/made', 'refs/tags/light'])
    expect([inner('log', '-1', '--format=%s'), inner('status', '--porcelain')]).toEqual(['next', ''])
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    expect([refsOf(inner), inner('status', '--porcelain'), git('status', '--porcelain')]).toEqual([before, '', status])
  })
}

describe.skipIf(needsBubblewrap())('refs that a run changes', () => {
  test('are named by the summary and by agent changes if they do not land, and land later', async () => {
    const script = `git merge -q --ff-only other; git ${by} tag -a -m t v1`
    const { git, first, report, ended, ask } = await committing(script, { prepare: twoBranches })
    expect(git('log', '-1', '--format=%s')).toBe('second')
    const why = '--land-commits was not given'
    expect(report).toMatchObject({ repositories: [], commits: [] })
    expect(report?.refs_not_landed?.map(({ ref, why }) => [ref, why])).toEqual([
      ['refs/heads/main', why],
      ['refs/tags/v1', why],
    ])
    const line = `refs that did not land: main, tag v1 (${why})`
    expect([ended.stderr, (await ask('changes', '--last')).stdout]).toEqual([
      expect.stringContaining(line),
      expect.stringContaining(line),
    ])
    const applied = await ask('apply', '--last', '--land-commits')
    expect(applied.stdout).toMatch(/^commits: main moved to .*\nrefs that landed: tag v1\n/)
    expect([git('log', '-1', '--format=%s'), git('cat-file', '-t', 'v1')]).toEqual(['third', 'tag'])
    expect((await ask('changes', '--last')).stdout).not.toContain('did not land')
    expect([(await ask('undo', '--last')).code, git('tag'), git('rev-parse', 'main~1')]).toEqual([0, '', first])
  })

  test('are listed as long as nothing has landed, and their session is kept', async () => {
    const { cwd, ask } = await committing('git merge -q --ff-only other', {
      prepare: twoBranches,
      args: ['--land', 'never'],
    })
    expect((await ask('changes', '--last')).stdout).toContain(`not landed in ${cwd}: main\n`)
    expect((await ask('sessions', 'prune', '--days', '0')).stdout).toContain('0 sessions removed')
  })

  test('move on from where an earlier landing of the same view left them, and one undo takes all of it back', async () => {
    const script = `echo x > a.txt; git ${by} commit -qam second; git tag v1; echo y > new.txt; echo z > later.txt`
    const { cwd, home, git, first, report, ask } = await committing(script, { args: ['--land', 'never'] })
    const id = report?.run ?? ''
    const applied = await ask('apply', id, 'a.txt', 'new.txt', '--land-commits')
    expect([applied.code, git('log', '--format=%s'), git('rev-parse', 'v1')]).toEqual([
      0,
      'second\nfirst',
      git('rev-parse', 'main'),
    ])
    const more = `git ${by} commit -q --allow-empty -m third; git tag -f v1`
    await exec([cmd(more), [say('done')]], ['--land-commits', 'resume', id, 'x'], { cwd, home })
    expect([git('log', '--format=%s'), git('rev-parse', 'v1')]).toEqual([
      'third\nsecond\nfirst',
      git('rev-parse', 'main'),
    ])
    expect((await ask('undo', id)).stdout).toMatch(/^Reverted/)
    expect([refsOf(git), git('status', '--porcelain')]).toEqual([`${first} refs/heads/main`, ''])
  })

  test('leave no view behind if all of them land; otherwise, leave one from which they can land later', async () => {
    const run = (args: readonly string[]) => committing('git branch new; git tag v1', { args })
    const viewOf = ({ home, report }: Awaited<ReturnType<typeof run>>): string =>
      join(home, '.local/state/portcullis/sessions', report?.run ?? '', 'view')
    expect(existsSync(viewOf(await run(['--land-commits'])))).toBe(false)
    expect(existsSync(viewOf(await run([])))).toBe(true)
  })

  test('land even from a view of an earlier version of the program, which did not record their old values', async () => {
    const { home, git, report, ask } = await committing('git merge -q --ff-only other; git tag v1', {
      prepare: twoBranches,
      args: ['--land', 'never'],
    })
    const session = join(home, '.local/state/portcullis/sessions', report?.run ?? '')
    const heads = JSON.parse(readFileSync(join(session, 'heads.json'), 'utf8')) as readonly { refs: unknown }[]
    writeFileSync(join(session, 'heads.json'), JSON.stringify(heads.map(({ refs: _, ...head }) => head)))
    rmSync(join(session, 'changes'), { recursive: true })
    git('branch', 'mine')
    const applied = await ask('apply', '--last', '--land-commits')
    expect(applied.stdout).toMatch(/^commits: main moved to .*\nrefs that landed: tag v1\n/)
    expect(git('branch', '--list', '--format=%(refname:short)').split('\n')).toEqual(['main', 'mine', 'other'])
  })

  test('land when a later run of the session completes', async () => {
    const { cwd, home, git } = await committing('git merge -q --ff-only other', {
      prepare: twoBranches,
      args: ['--land', 'never'],
    })
    await exec(
      [cmd(`git ${by} commit -q --allow-empty -m fourth`), [say('done')]],
      ['--land-commits', 'resume', '--last', 'x'],
      {
        cwd,
        home,
      },
    )
    expect(git('log', '--format=%s')).toBe('fourth\nthird\nsecond\nfirst')
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    expect([git('log', '--format=%s'), git('status', '--porcelain')]).toEqual(['second\nfirst', ''])
  })

  test.each([
    ['git checkout -q other', 'the run had checked out other'],
    ['git checkout -q -b new', 'the run had checked out new'],
    ['git checkout -q --detach other', expect.stringMatching(/^the run had checked out the commit [0-9a-f]{12}$/)],
  ])('do not change what is checked out in the repository: %s', async (command, why) => {
    const { git, report, read } = await committing(command, lands)
    expect([git('symbolic-ref', 'HEAD'), git('log', '-1', '--format=%s')]).toEqual(['refs/heads/main', 'second'])
    expect(report?.refs_not_landed).toMatchObject([{ ref: 'HEAD', why }])
    // The files are those of the run, as always.
    const isOther = command.includes('other')
    expect([read('a.txt'), git('status', '--porcelain')]).toEqual(isOther ? ['other\n', ' M a.txt'] : ['a\n', ''])
    expect(git('branch', '--list', 'new')).toBe(command.includes('new') ? '  new' : '')
  })

  test('get their new values if nobody else has changed them, and an undo gives the old ones back', async () => {
    const script = `git tag -f v1 other; git branch -f side main; git ${by} commit -q --allow-empty -m run`
    let before = ''
    const { git, report, ask } = await committing(script, {
      args: ['--land-commits'],
      prepare: (git, cwd) => {
        twoBranches(git, cwd)
        git('tag', 'v1', 'main')
        git('branch', 'side', 'other')
        git('pack-refs', '--all')
        before = refsOf(git)
      },
    })
    expect(git('rev-parse', 'v1', 'side')).toBe(git('rev-parse', 'other', 'main~1'))
    expect(report?.refs?.map(({ ref }) => ref)).toEqual(['refs/heads/side', 'refs/tags/v1'])
    expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
    expect(refsOf(git)).toBe(before)
  })

  test('keep the values that somebody else has given them since the run began', async () => {
    const script = `git tag v1 other; git branch -f side main; git merge -q --ff-only other`
    const { git, report } = await committing(script, {
      args: ['--land-commits'],
      prepare: (git, cwd) => {
        twoBranches(git, cwd)
        git('branch', 'side', 'other')
      },
      before: (git) => {
        git('tag', 'v1', 'main~1')
        git('branch', '-f', 'side', 'main~1')
        commit(git, 'theirs')
      },
    })
    expect(git('log', '--format=%s', '-1')).toBe('theirs')
    expect(git('rev-parse', 'v1', 'side')).toBe(git('rev-parse', 'main~2', 'main~2'))
    expect(report?.refs_not_landed).toMatchObject([
      { ref: 'refs/heads/main', why: 'main now points to a different commit' },
      { ref: 'refs/heads/side', why: 'it has changed in the repository since the run began' },
      { ref: 'refs/tags/v1', why: 'a ref of that name has been created in the repository since the run began' },
    ])
  })

  test('are not removed, and stay if they are checked out in a linked worktree', async () => {
    const linked = join(tempDir(), 'w')
    const { git, report } = await committing('git branch -q -D side; git update-ref refs/heads/other main', {
      args: ['--land-commits'],
      prepare: (git, cwd) => {
        twoBranches(git, cwd)
        git('branch', 'side')
        git('worktree', 'add', '-q', linked, 'other')
      },
    })
    expect(report?.refs_not_landed).toMatchObject([
      { ref: 'refs/heads/other', why: 'it is checked out in the repository' },
      { ref: 'refs/heads/side', why: 'the run removed it, and removals do not land' },
    ])
    expect([git('rev-parse', 'side'), git('-C', linked, 'status', '--porcelain')]).toEqual([
      git('rev-parse', 'main'),
      '',
    ])
  })

  const meanwhile: readonly (readonly [string, (git: Git) => void, string])[] = [
    [
      'rebases it',
      (git) => void expect(() => git(...by.split(' '), 'rebase', '-q', 'main', 'topic')).toThrow(),
      'it is being rebased in the repository',
    ],
    [
      'began to bisect on it',
      (git) => {
        git('checkout', '-q', 'topic')
        git('bisect', 'start')
        git('checkout', '-q', '--detach', 'main')
      },
      'it is being bisected in the repository',
    ],
    [
      'has checked it out by a symbolic ref',
      (git) => {
        git('checkout', '-q', 'topic')
        git('symbolic-ref', 'refs/heads/alias', 'refs/heads/topic')
        git('symbolic-ref', 'HEAD', 'refs/heads/alias')
      },
      'it is checked out in the repository',
    ],
  ]
  test.each(meanwhile)('leave a branch alone if somebody %s', async (_, before, why) => {
    const script = `git checkout -q topic && git ${by} commit -qm aside --allow-empty && git checkout -q main`
    const { git, report } = await committing(script, {
      args: ['--land-commits'],
      prepare: (git, cwd) => {
        git('checkout', '-q', '-b', 'topic')
        writeFileSync(join(cwd, 'a.txt'), 'topic\n')
        git(...by.split(' '), 'commit', '-qam', 'topic')
        git('checkout', '-q', 'main')
        writeFileSync(join(cwd, 'a.txt'), 'main\n')
        git(...by.split(' '), 'commit', '-qam', 'main')
      },
      before,
    })
    expect(report?.refs_not_landed).toEqual([expect.objectContaining({ ref: 'refs/heads/topic', why })])
    expect(git('log', '-1', '--format=%s', 'topic')).toBe('topic')
    expect(git('log', '-1', '--format=%s', `portcullis/${report?.run}-branch-topic`)).toBe('aside')
  })

  test('stay after an undo if they are checked out by a symbolic ref', async () => {
    const { git, ask } = await committing('git branch side', { args: ['--land-commits'] })
    git('symbolic-ref', 'refs/heads/alias', 'refs/heads/side')
    git('symbolic-ref', 'HEAD', 'refs/heads/alias')
    expect((await ask('undo', '--last')).stdout).toContain('side was not reset: it is checked out')
    expect(git('rev-parse', 'side')).toBe(git('rev-parse', 'main'))
  })

  test('are restored by an undo that cannot move the checked-out branch back, which says what stays', async () => {
    const { git, cwd, report, ask } = await committing(
      `git ${by} commit -qm aside --allow-empty; git branch side; git tag v1`,
      { args: ['--land-commits'] },
    )
    git('checkout', '-q', '--detach')
    const own = `portcullis/${report?.run}`
    const undone = await ask('undo', '--last')
    expect(undone.stdout).toContain(`${cwd}: main is no longer checked out\n`)
    expect(undone.stdout).toContain(`${cwd}: ${own} was not removed: it keeps the commits\n`)
    const left = ['refs/heads/main', `refs/heads/${own}`]
    expect(git('for-each-ref', '--format=%(refname)').split('\n')).toEqual(left)
  })

  test('do not make a branch named HEAD', async () => {
    const { git, report } = await committing(
      `git update-ref refs/heads/HEAD $(git ${by} commit-tree -m aside -p HEAD 'HEAD^{tree}')`,
      { args: ['--land-commits'] },
    )
    expect(report?.refs_not_landed).toMatchObject([
      { ref: 'refs/heads/HEAD', why: 'git allows no branch of this name' },
    ])
    expect(git('log', '-1', '--format=%s', `portcullis/${report?.run}-branch-HEAD`)).toBe('aside')
  })

  test('keep their new commits on a separate branch if their names are taken', async () => {
    const script = `git checkout -qb side && git ${by} commit -qm aside --allow-empty && git checkout -q main`
    const { git, report } = await committing(script, {
      args: ['--land-commits'],
      before: (git) => git('branch', 'side/ways'),
    })
    expect(git('log', '-1', '--format=%s', `portcullis/${report?.run}-branch-side`)).toBe('aside')
    expect(report?.refs_not_landed).toMatchObject([
      { ref: 'refs/heads/side', why: expect.stringContaining('conflicts') },
    ])
  })

  test('are reported with their own reasons if they would not land even with --land-commits', async () => {
    const { report } = await committing('git checkout -q other; git branch -q -D side', {
      prepare: (git, cwd) => {
        twoBranches(git, cwd)
        git('branch', 'side')
      },
    })
    expect(report?.refs_not_landed).toMatchObject([
      { ref: 'HEAD', why: 'the run had checked out other' },
      { ref: 'refs/heads/side', why: 'the run removed it, and removals do not land' },
    ])
  })

  test('in several work trees of a repository are restored together by an undo, even if git has packed them', async () => {
    const { cwd, home, git, ask } = await committing('true', { prepare: twoBranches })
    const at = join(cwd, 'linked')
    git('worktree', 'add', '-q', '-b', 'side', at)
    const before = refsOf(git)
    const made = (message: string): string => `git ${by} commit -q --allow-empty -m ${message}`
    const script = `${made('top')}; git branch new; cd linked && ${made('linked')} && git branch newer`
    const ended = await onOverlay(cwd, [cmd(script)], { how: 'copy', home, args: ['--land-commits'] })
    expect(reportOf(ended)?.commits).toHaveLength(2)
    expect(reportOf(ended)?.refs?.map(({ ref }) => ref)).toEqual(['refs/heads/new', 'refs/heads/newer'])
    expect(git('log', '-1', '--format=%s', 'main')).toBe('top')
    expect(git('log', '-1', '--format=%s', 'side')).toBe('linked')
    git('pack-refs', '--all')
    expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
    expect(refsOf(git)).toBe(before)
  })

  test('do not land if git only fetched them', async () => {
    const upstream = tempDir()
    execFileSync('sh', ['-ec', `git init -q . && git ${by} commit -q --allow-empty -m up && git tag v9`], {
      cwd: upstream,
    })
    const { git, report } = await committing(`git fetch -q --tags ${upstream} HEAD:refs/remotes/up/main`, {
      args: ['--land-commits', '--add-dir', upstream],
    })
    expect([git('tag'), report?.refs_not_landed]).toEqual([
      '',
      [expect.objectContaining({ why: 'it was only fetched' })],
    ])
  })
})

describe.skipIf(needsBubblewrap())('a run in a repository that has a branch named portcullis', () => {
  const withBranch = (git: Git): void => void git('branch', 'portcullis')
  test('lands its commits on branches with another name', async () => {
    const { git, report, ended, ask } = await committing(`echo x > a.txt; git ${by} commit -qam second`, {
      prepare: withBranch,
    })
    const name = `portcullis-runs/${report?.run}`
    expect([report?.outcome, git('log', '-1', '--format=%s', name)]).toEqual(['landed', 'second'])
    expect(ended.stderr).toContain(`commits: on the branch ${name}`)
    expect((await ask('undo', '--last')).code).toBe(0)
    expect(git('branch', '--list', '--format=%(refname:short)')).toBe('main\nportcullis')
  })

  test('lands its commits below portcullis-runs-2 if there is also a branch named portcullis-runs, even a packed one', async () => {
    const { git, report } = await committing(`git ${by} commit -q --allow-empty -m second`, {
      prepare: (git) => {
        git('branch', 'portcullis')
        git('branch', 'portcullis-runs')
        git('pack-refs', '--all')
      },
    })
    expect(git('log', '-1', '--format=%s', `portcullis-runs-2/${report?.run}`)).toBe('second')
  })

  test('reports, in the summary and in agent changes, a command that fetches its commits', async () => {
    const { cwd, git, report, ended, ask } = await committing(
      `git checkout -qb side && git ${by} commit -q --allow-empty -m aside && git checkout -q main`,
      { prepare: withBranch, args: ['--land', 'never'] },
    )
    const fetch = /to fetch them: (.*)/.exec(ended.stderr)?.[1] ?? ''
    expect((await ask('changes', '--last')).stdout).toContain(fetch)
    execFileSync('sh', ['-c', fetch], { cwd, stdio: 'ignore' })
    expect(git('log', '-1', '--format=%s', `portcullis-runs/${report?.run}-side`)).toBe('aside')
  })
})
