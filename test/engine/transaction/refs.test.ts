import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
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
const namesOf = (git: Git): readonly string[] => git('for-each-ref', '--format=%(refname)').split('\n')

for (const how of ['copy', 'overlay'] as const) {
  const missing = whyNoBubblewrap() ?? (how === 'overlay' ? whyNoOverlay() : undefined)
  describe.skipIf(missing !== undefined)(`with ${how}, refs that a run changes without new commits`, () => {
    testUnless(missing, test)('move the checked-out branch forwards, and an undo moves it back', async () => {
      let before = ''
      const { git, cwd, report, ask } = await committing('git merge -q --ff-only other', {
        ...{ how, prepare: twoBranches },
        before: (git) => (before = refsOf(git)),
      })
      expect([git('log', '-1', '--format=%s'), git('symbolic-ref', 'HEAD')]).toEqual(['third', 'refs/heads/main'])
      expect([git('status', '--porcelain'), namesOf(git)]).toEqual(['', ['refs/heads/main', 'refs/heads/other']])
      const moved = { path: cwd, commit: git('rev-parse', 'main'), moved: { branch: 'refs/heads/main' } }
      expect(report).toMatchObject({ commits: [moved], repositories: [], can_undo: true })
      expect(report).not.toHaveProperty('refs_not_landed')
      expect((await ask('changes', '--last')).stdout).toContain('commits: main moved to ')
      expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
      expect([refsOf(git), git('status', '--porcelain')]).toEqual([before, ''])
    })

    testUnless(missing, test).each([
      ['git reset -q --hard HEAD~1', ' M b.txt'],
      ['git reset -q --soft HEAD~1', ''],
    ])('do not move the branch backwards: %s, but the summary says how to', async (command, status) => {
      const { git, cwd, report } = await committing(command, { how, prepare: twoBranches })
      expect([git('log', '-1', '--format=%s'), git('status', '--porcelain')]).toEqual(['second', status])
      const [left] = report?.refs_not_landed ?? []
      expect(left).toMatchObject({ ref: 'refs/heads/main', why: expect.stringContaining('would not move forward') })
      execFileSync('sh', ['-c', left?.command ?? 'false'], { cwd, stdio: 'ignore' })
      expect(git('log', '-1', '--format=%s')).toBe('first')
    })

    testUnless(missing, test)(
      'land as new branches, which an undo removes; tags and notes stay in the run',
      async () => {
        const script = `git branch new; git branch deep/er other; git tag light; git ${by} tag -a -m t heavy other; git ${by} notes add -m note`
        let before = ''
        const { cwd, git, report, ask } = await committing(script, {
          ...{ how, prepare: twoBranches },
          before: (git) => (before = refsOf(git)),
        })
        expect(git('rev-parse', 'new', 'deep/er').split('\n')).toEqual(git('rev-parse', 'main', 'other').split('\n'))
        const under = `refs/portcullis/${report?.run}`
        expect(report?.refs?.map(({ ref }) => ref)).toEqual([
          ...['refs/heads/deep/er', 'refs/heads/new'],
          ...[`${under}/notes/commits`, `${under}/tags/heavy`],
        ])
        expect([git('tag'), report?.commits, report?.repositories]).toEqual(['', [], []])
        for (const { command } of report?.refs_not_landed ?? [])
          execFileSync('sh', ['-c', command ?? 'false'], { cwd, stdio: 'ignore' })
        expect([git('cat-file', '-t', 'heavy'), git('rev-parse', 'light'), git('notes', 'show')]).toEqual([
          ...['tag', git('rev-parse', 'main'), 'note'],
        ])
        git('fsck', '--strict')
        git('tag', '-d', 'heavy', 'light')
        git('update-ref', '-d', 'refs/notes/commits')
        expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
        for (const name of namesOf(git)) if (name.startsWith(under)) git('update-ref', '-d', name)
        expect(refsOf(git)).toBe(before)
      },
    )
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
    const merge = 'git merge -q --ff-only next && git branch made'
    const ended = await onOverlay(cwd, [[call('exec_command', { cmd: merge, workdir: at })]], { how, home })
    const report = reportOf(ended)
    expect(report).toMatchObject({ commits: [{ path: at, moved: { branch } }], repositories: [] })
    expect(report?.refs?.map(({ ref }) => ref)).toEqual(['refs/heads/made'])
    expect([inner('log', '-1', '--format=%s'), inner('status', '--porcelain')]).toEqual(['next', ''])
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    expect([refsOf(inner), inner('status', '--porcelain'), git('status', '--porcelain')]).toEqual([before, '', status])
  })
}

describe.skipIf(needsBubblewrap())('refs that a run changes', () => {
  test('that stay are named by the summary and by agent changes, each with a command', async () => {
    const { report, ended, ask } = await committing(`git ${by} tag -a -m t v1 other`, { prepare: twoBranches })
    const line = `not landed: tag v1 (tags do not land): git tag v1 refs/portcullis/${report?.run}/tags/v1`
    expect([ended.stderr, (await ask('changes', '--last')).stdout]).toEqual([
      expect.stringContaining(line),
      expect.stringContaining(line),
    ])
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
    const script = `git checkout -q -b fix; echo x > a.txt; git ${by} commit -qam second; echo y > new.txt; echo z > later.txt`
    const { cwd, home, git, first, report, ask } = await committing(script, { args: ['--land', 'never'] })
    const id = report?.run ?? ''
    expect((await ask('apply', id)).code).toBe(0)
    expect([git('log', '--format=%s', 'fix'), git('symbolic-ref', 'HEAD')]).toEqual(['second\nfirst', 'refs/heads/fix'])
    await exec([cmd(`git ${by} commit -q --allow-empty -m third`), [say('done')]], ['resume', id, 'x'], { cwd, home })
    expect(git('log', '--format=%s', 'fix')).toBe('third\nsecond\nfirst')
    expect((await ask('undo', id)).stdout).toMatch(/^Reverted/)
    expect([refsOf(git), git('symbolic-ref', 'HEAD'), git('status', '--porcelain')]).toEqual([
      ...[`${first} refs/heads/main`, 'refs/heads/main', ''],
    ])
  })

  test('land when a later run of the session completes', async () => {
    const { cwd, home, git } = await committing('git merge -q --ff-only other', {
      prepare: twoBranches,
      args: ['--land', 'never'],
    })
    await exec([cmd(`git ${by} commit -q --allow-empty -m fourth`), [say('done')]], ['resume', '--last', 'x'], {
      ...{ cwd, home },
    })
    expect(git('log', '--format=%s')).toBe('fourth\nthird\nsecond\nfirst')
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    expect([git('log', '--format=%s'), git('status', '--porcelain')]).toEqual(['second\nfirst', ''])
  })

  test.each([
    ['git checkout -q other', 'the run had checked out other', 'git switch other'],
    [
      'git checkout -q --detach other',
      expect.stringMatching(/checked out the commit [0-9a-f]{12}$/),
      expect.any(String),
    ],
  ])('do not change what is checked out in the repository: %s', async (line, why, command) => {
    const { git, report, read } = await committing(line, { prepare: twoBranches })
    expect([git('symbolic-ref', 'HEAD'), git('log', '-1', '--format=%s')]).toEqual(['refs/heads/main', 'second'])
    expect(report?.refs_not_landed).toMatchObject([{ ref: 'HEAD', why, command }])
    // The files are those of the run, as always.
    expect([read('a.txt'), git('status', '--porcelain')]).toEqual(['other\n', ' M a.txt'])
  })

  test.each(['', '; echo y > b.txt'])('let HEAD follow to a new branch, and an undo leads back%s', async (more) => {
    const script = `git switch -q -c fix; echo x > a.txt; git ${by} commit -qam fix${more}`
    const { git, report, ended, ask, first } = await committing(script)
    expect([git('symbolic-ref', 'HEAD'), git('log', '--format=%s')]).toEqual(['refs/heads/fix', 'fix\nfirst'])
    expect(git('status', '--porcelain')).toBe(more === '' ? '' : ' M b.txt')
    expect(git('rev-parse', 'main')).toBe(first)
    expect(report?.commits).toMatchObject([{ moved: { branch: 'refs/heads/fix', from: 'refs/heads/main' } }])
    expect(ended.stderr).toContain('commits: on the new branch fix (')
    expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
    expect([git('symbolic-ref', 'HEAD'), refsOf(git), git('status', '--porcelain')]).toEqual([
      ...['refs/heads/main', `${first} refs/heads/main`, ''],
    ])
  })

  test('never move an existing branch or tag, and what they would lose is kept', async () => {
    const script = `git tag -f v1 other; git checkout -q side && git ${by} commit -q --allow-empty -m aside; git checkout -q main`
    let before = ''
    const { cwd, git, report } = await committing(script, {
      prepare: (git, cwd) => {
        twoBranches(git, cwd)
        git('tag', 'v1', 'main')
        git('branch', 'side', 'other')
        git('pack-refs', '--all')
        before = refsOf(git)
      },
    })
    const under = `refs/portcullis/${report?.run}`
    expect(
      refsOf(git)
        .split('\n')
        .filter((line) => !line.includes(under))
        .join('\n'),
    ).toBe(before)
    expect(report?.refs_not_landed).toMatchObject([
      {
        ref: 'refs/heads/side',
        why: 'existing branches do not move',
        command: `git branch -f side ${under}/heads/side`,
      },
      { ref: 'refs/tags/v1', why: 'tags do not land', command: expect.stringMatching(/^git tag -f v1 [0-9a-f]{40}$/) },
    ])
    execFileSync('sh', ['-c', report?.refs_not_landed?.[0]?.command ?? 'false'], { cwd, stdio: 'ignore' })
    expect(git('log', '-1', '--format=%s', 'side')).toBe('aside')
  })

  test('are not removed, and the summary says how to', async () => {
    const { git, report } = await committing('git branch -q -D side; git tag -d v1', {
      prepare: (git, cwd) => {
        twoBranches(git, cwd)
        git('branch', 'side')
        git('tag', 'v1')
      },
    })
    expect(report?.refs_not_landed).toMatchObject([
      { ref: 'refs/heads/side', why: 'the run removed it, and nothing is removed', command: 'git branch -D side' },
      { ref: 'refs/tags/v1', command: 'git tag -d v1' },
    ])
    expect(git('rev-parse', 'side', 'v1').split('\n')).toEqual([git('rev-parse', 'main'), git('rev-parse', 'main')])
  })

  test('leave the stash alone, and keep what the run put there', async () => {
    const { cwd, git, report } = await committing(`echo s > b.txt; git ${by} stash -q`)
    expect(git('stash', 'list')).toBe('')
    execFileSync('sh', ['-c', report?.refs_not_landed?.[0]?.command ?? 'false'], { cwd, stdio: 'ignore' })
    git('stash', 'pop', '-q')
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('s\n')
  })

  test('keep their commits after a rebase and an amend, and one command moves the branch', async () => {
    const script = `echo x > a.txt; git ${by} commit -q --amend -am amended`
    const { cwd, git, first, report, read } = await committing(script)
    expect([git('rev-parse', 'HEAD'), read('a.txt'), git('status', '--porcelain')]).toEqual([first, 'x\n', ' M a.txt'])
    const command = `git reset refs/portcullis/${report?.run}/heads/main`
    expect(report?.refs_not_landed).toMatchObject([{ ref: 'refs/heads/main', command }])
    execFileSync('sh', ['-c', command], { cwd, stdio: 'ignore' })
    expect([git('log', '--format=%s'), git('status', '--porcelain')]).toEqual(['amended', ''])
  })

  test('stay after an undo if they are checked out by a symbolic ref', async () => {
    const { git, ask } = await committing('git branch side')
    git('symbolic-ref', 'refs/heads/alias', 'refs/heads/side')
    git('symbolic-ref', 'HEAD', 'refs/heads/alias')
    expect((await ask('undo', '--last')).stdout).toContain('side was not reset: it is checked out')
    expect(git('rev-parse', 'side')).toBe(git('rev-parse', 'main'))
  })

  test('are removed by an undo that cannot move the checked-out branch back, which says what stays', async () => {
    const { git, cwd, ask } = await committing(`git ${by} commit -qm aside --allow-empty; git branch side`)
    git('checkout', '-q', '--detach')
    expect((await ask('undo', '--last')).stdout).toContain(`${cwd}: main is no longer checked out`)
    expect(namesOf(git)).toEqual(['refs/heads/main'])
  })

  test('are kept below refs/portcullis if their names are taken', async () => {
    const script = `git checkout -qb side && git ${by} commit -qm aside --allow-empty && git checkout -q main`
    const { git, report } = await committing(script, { before: (git) => git('branch', 'side/ways') })
    expect(git('log', '-1', '--format=%s', `refs/portcullis/${report?.run}/heads/side`)).toBe('aside')
    expect(report?.refs_not_landed).toMatchObject([
      { ref: 'refs/heads/side', why: expect.stringContaining('conflicts') },
    ])
  })

  test('in several work trees of a repository are restored together by an undo, even if git has packed them', async () => {
    const { cwd, home, git, ask } = await committing('true', { prepare: twoBranches })
    const at = join(cwd, 'linked')
    git('worktree', 'add', '-q', '-b', 'side', at)
    const before = refsOf(git)
    const made = (message: string): string => `git ${by} commit -q --allow-empty -m ${message}`
    const script = `${made('top')}; git branch new; cd linked && ${made('linked')} && git branch newer`
    const ended = await onOverlay(cwd, [cmd(script)], { how: 'copy', home })
    expect(reportOf(ended)?.commits).toHaveLength(2)
    expect(reportOf(ended)?.refs?.map(({ ref }) => ref)).toEqual(['refs/heads/new', 'refs/heads/newer'])
    expect(git('log', '-1', '--format=%s', 'main')).toBe('top')
    expect(git('log', '-1', '--format=%s', 'side')).toBe('linked')
    git('pack-refs', '--all')
    expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
    expect(refsOf(git)).toBe(before)
  })

  test('stay in the run if it isn’t known what the run changed in them, and a command fetches them', async () => {
    const script = `echo x > a.txt; git ${by} commit -qam second`
    const { cwd, home, git, first, report, ask, read } = await committing(script, { args: ['--land', 'never'] })
    const file = join(home, '.local/state/portcullis/sessions', report?.run ?? '', 'changes/record.json')
    const record = JSON.parse(readFileSync(file, 'utf8')) as { repositories: { refs?: unknown }[] }
    for (const repository of record.repositories) delete repository.refs
    writeFileSync(file, JSON.stringify(record))
    const applied = await ask('apply', '--last')
    expect([applied.code, applied.stderr, read('a.txt'), git('rev-parse', 'HEAD')]).toEqual([
      ...[0, expect.stringContaining('it is not known what the run changed in its refs'), 'x\n', first],
    ])
    const fetch = /commits in .*: (git fetch .*)/.exec((await ask('changes', '--last')).stdout)?.[1] ?? 'false'
    execFileSync('sh', ['-c', fetch], { cwd, stdio: 'ignore' })
    expect(git('log', '-1', '--format=%s', `refs/portcullis/${report?.run}/HEAD`)).toBe('second')
  })

  test('of other repositories do not land, and neither do tags that were fetched', async () => {
    const upstream = tempDir()
    execFileSync('sh', ['-ec', `git init -q . && git ${by} commit -q --allow-empty -m up && git tag v9`], {
      cwd: upstream,
    })
    const { git, report } = await committing(
      `git fetch -q --tags ${upstream} HEAD:refs/remotes/up/main; git update-ref refs/remotes/origin/main FETCH_HEAD`,
      { args: ['--add-dir', upstream] },
    )
    expect(namesOf(git)).toEqual(['refs/heads/main', `refs/portcullis/${report?.run}/tags/v9`])
  })

  test('stay where the workspace is, and move no branch, if a commit changes what is outside it', async () => {
    const cwd = repository({ 'sub/a.txt': 'a\n', 'other/b.txt': 'b\n' })
    const at = (...words: readonly string[]) => execFileSync('git', words, { cwd, encoding: 'utf8' })
    at('add', '.')
    at(...by.split(' '), 'commit', '-qm', 'first')
    const script = `echo 2 > a.txt; git add a.txt; git rm -q --cached ../other/b.txt; git ${by} commit -qm second`
    const run = await onOverlay(join(cwd, 'sub'), [cmd(script)], { how: 'copy' })
    expect(reportOf(run)?.refs_not_landed?.[0]?.why).toMatch(/"other\/b\.txt", which is outside the directories/)
    expect(at('status', '--porcelain')).toBe(' M sub/a.txt\n')
    const well = await onOverlay(join(cwd, 'sub'), [cmd(`git add a.txt; git ${by} commit -qm third`)], { how: 'copy' })
    expect(reportOf(well)?.commits?.[0]?.moved).toMatchObject({ branch: 'refs/heads/master' })
    expect(at('status', '--porcelain')).toBe('')
  })

  test('stay and are named, whatever they are called, if nothing else has their commits', async () => {
    const { git, report } = await committing(
      `git checkout -q --detach; git ${by} commit -qm away --allow-empty; c=$(git rev-parse HEAD); git checkout -q main
      git ${by} commit -qm on --allow-empty; git update-ref refs/remotes/origin/main HEAD
      git update-ref refs/remotes/up/away HEAD; git update-ref refs/remotes/up/far $(git ${by} commit-tree -m x HEAD^{tree})
      git update-ref refs/pull/1/head $c; git replace $c HEAD`,
    )
    expect(report?.refs_not_landed?.map(({ ref }) => ref)).toEqual([
      'refs/pull/1/head',
      expect.stringContaining('refs/replace/'),
      'refs/remotes/up/far',
    ])
    expect(namesOf(git)).toEqual(['refs/heads/main', `refs/portcullis/${report?.run}/pull/1/head`])
  })
})
