import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, type Ended } from '../../support/agent.ts'
import { isRunning } from '../../support/is-running.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', words, { cwd, encoding: 'utf8' }).trim()
const silent = { code: 0, stderr: '' }

describe.skipIf(needsBubblewrap())('a command of agent sandbox', () => {
  const sandbox = (cwd: string, script: string, flags: readonly string[] = [], home = tempDir()): Promise<Ended> =>
    agent(['sandbox', ...flags, '--', 'sh', '-c', script], { cwd, home })
  const sessions = (home: string): readonly string[] => {
    const folder = join(home, '.local/state/portcullis/sessions')
    return existsSync(folder) ? readdirSync(folder) : []
  }

  test.each(['copy', 'overlay'])(
    'lands its files and commits at its end, and nothing that git obeys (%s)',
    async (how) => {
      const cwd = repository({ 'a.txt': 'one\n' })
      git(cwd, 'add', '.')
      git(cwd, '-c', 'user.name=n', '-c', 'user.email=n@x', 'commit', '--quiet', '-m', 'one')
      const script = `echo two > a.txt; git -c user.name=n -c user.email=n@x commit -qam two; echo new > b.txt
      git config core.fsmonitor ./evil; echo evil > .git/hooks/pre-commit; git update-ref refs/remotes/origin/main HEAD; git tag t`
      expect(await sandbox(cwd, script, ['--view', how])).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('tags do not land'),
      })
      expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
      expect(git(cwd, 'log', '-1', '--format=%s')).toBe('two')
      expect(git(cwd, 'status', '--porcelain')).toBe('?? b.txt')
      expect(git(cwd, 'config', '--default', '', 'core.fsmonitor')).toBe('')
      expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false)
      expect(git(cwd, 'for-each-ref', '--format=%(refname)', 'refs/remotes', 'refs/tags')).toBe('')
    },
  )

  test('changes nothing in the workspace before it has ended', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const ended = sandbox(cwd, 'rm a.txt; echo > b.txt; sleep 1.125')
    while (!isRunning('1.125')) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(readdirSync(cwd).toSorted()).toEqual(['.git', 'a.txt'])
    expect(await ended).toMatchObject(silent)
    expect(readdirSync(cwd).toSorted()).toEqual(['.git', 'b.txt'])
  })

  test('lands also if it fails, unless only success is to land', async () => {
    const [cwd, home] = [repository(), tempDir()]
    expect(await sandbox(cwd, 'echo > a; exit 3')).toMatchObject({ code: 3, stderr: '' })
    const kept = await sandbox(cwd, 'echo > b; exit 3', ['--land', 'on-success'], home)
    expect(kept).toMatchObject({ code: 3, stderr: expect.stringContaining('agent apply') })
    expect([existsSync(join(cwd, 'a')), existsSync(join(cwd, 'b'))]).toEqual([true, false])
    expect(await agent(['apply', '--last'], { cwd, home })).toMatchObject({ code: 0 })
    expect(existsSync(join(cwd, 'b'))).toBe(true)
  })

  test('can be undone, and leaves no session if it has changed nothing', async () => {
    const [cwd, home] = [repository({ 'a.txt': 'one\n' }), tempDir()]
    expect(await sandbox(cwd, 'cat a.txt', [], home)).toMatchObject(silent)
    expect(sessions(home)).toEqual([])
    expect(await sandbox(cwd, 'rm a.txt', [], home)).toMatchObject(silent)
    expect(sessions(home)).toHaveLength(1)
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
    expect(await agent(['undo', '--last'], { cwd, home })).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n')
  })

  test('that lands nothing because somebody else changed the same file fails, and is kept', async () => {
    const [cwd, home] = [repository({ 'a.txt': 'one\n' }), tempDir()]
    git(cwd, 'add', '.')
    const ended = sandbox(cwd, 'echo mine > a.txt; sleep 1.375', ['--json'], home)
    while (!isRunning('1.375')) await new Promise((resolve) => setTimeout(resolve, 10))
    writeFileSync(join(cwd, 'a.txt'), 'theirs\n')
    const { code, stdout } = await ended
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'exited', code: 0, transaction: { outcome: 'conflict' } })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('theirs\n')
    expect((await agent(['changes', '--last', '--patch', '-'], { cwd, home })).stdout).toContain('+mine')
  })

  test('sees and changes a large tree, too, whose files are not copied', async () => {
    const cwd = repository()
    for (let folder = 0; folder < 45; folder += 1) {
      mkdirSync(join(cwd, `lib/${folder}`), { recursive: true })
      for (let file = 0; file < 100; file += 1) writeFileSync(join(cwd, `lib/${folder}/${file}`), '')
    }
    const { stdout, ...ended } = await sandbox(cwd, 'ls lib/44 | wc -l; rm lib/44/99; echo x > lib/44/0', ['--json'])
    expect(ended).toMatchObject(silent)
    expect(JSON.parse(stdout)).toMatchObject({
      stdout: '100\n',
      transaction: { strategy: 'overlay', outcome: 'landed' },
    })
    expect([existsSync(join(cwd, 'lib/44/99')), readFileSync(join(cwd, 'lib/44/0'), 'utf8')]).toEqual([false, 'x\n'])
  })

  test.each([
    ['once', ['SIGTERM'], 143, /Stopped by SIGTERM\. Nothing was landed\./],
    // The first may have ended it before the second arrives.
    [
      'twice',
      ['SIGINT', 'SIGINT'],
      130,
      /what the command changed and did not land is kept: agent changes|Nothing was landed\./,
    ],
  ] as const)('that is interrupted %s while its changes land says where they are', async (_, signals, code, said) => {
    const [cwd, home] = [repository({ 'a.txt': 'one\n' }), tempDir()]
    git(cwd, 'add', '.')
    const script = 'git -c user.name=n -c user.email=n@x commit -qm one; echo two > a.txt; echo ready >&2; sleep 0.5'
    const ended = await agent(['sandbox', '--', 'sh', '-c', script], {
      cwd,
      home,
      onStart: (child) =>
        child.stderr?.once('data', () => {
          // The landing waits for whoever holds this lock.
          writeFileSync(join(cwd, '.git/index.lock'), '')
          setTimeout(() => signals.forEach((signal, at) => setTimeout(() => child.kill(signal), at * 20)), 2000)
        }),
    })
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(said) })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n')
    rmSync(join(cwd, '.git/index.lock'))
    expect(await agent(['apply', '--last'], { cwd, home })).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
  })

  test.each(['copy', 'overlay'])('that makes a repository lands it, made anew (%s)', async (how) => {
    const cwd = repository()
    expect(await sandbox(cwd, 'git init -q sub', ['--view', how])).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(join(cwd, 'sub/.git')).toSorted()).toEqual(['HEAD', 'config', 'objects', 'refs'])
  })

  test('that may write to another directory lands there, too', async () => {
    const [cwd, other] = [repository(), tempDir({ file: 'old' })]
    expect(await sandbox(cwd, `rm ${other}/file; echo > ${other}/new`, ['--writable', other])).toMatchObject(silent)
    expect(readdirSync(other)).toEqual(['new'])
    const file = await sandbox(cwd, `echo x > ${other}/new`, ['--writable', `${other}/new`, '--land', 'never'])
    expect(file).toMatchObject({ code: 2, stderr: expect.stringContaining('Name its directory, or leave out --land') })
    expect(readFileSync(join(other, 'new'), 'utf8')).toBe('\n')
  })

  test('works in the workspace itself where that is asked for', async () => {
    const cwd = tempDir()
    const ended = sandbox(cwd, 'echo > a; sleep 1.625', ['--in-place'])
    while (!isRunning('1.625')) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(readdirSync(cwd)).toEqual(['a'])
    expect(await ended).toMatchObject(silent)
    const wrong = await sandbox(cwd, 'true', ['--in-place', '--land', 'never'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be used with option '--land") })
    const unconfined = ['--backend', 'unconfined', '-s', 'danger-full-access', '--land', 'never']
    const refused = await sandbox(cwd, 'echo > b', unconfined)
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('leave out --view and --land') })
    expect(readdirSync(cwd)).toEqual(['a'])
  })

  test('has nothing to land where it may not write', async () => {
    const [cwd, home] = [tempDir(), tempDir()]
    const ended = await sandbox(cwd, 'echo > a', ['-s', 'read-only', '--json'], home)
    expect(JSON.parse(ended.stdout)).not.toHaveProperty('transaction')
    expect(existsSync(join(home, '.local/state/portcullis/sessions'))).toBe(false)
    expect(readdirSync(cwd)).toEqual([])
  })
})
