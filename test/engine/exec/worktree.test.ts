import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, freeform, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const run = (cmd: string, more: object = {}) => call('exec_command', { cmd, ...more })
const enter = (name = 'job', more: object = {}) => call('enter_worktree', { name, ...more })
const exit = (action: 'keep' | 'remove', more: object = {}) => call('exit_worktree', { action, ...more })
const done = [say('done')]
const items = ({ events }: Exec) => events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
const moves = (ended: Exec) => items(ended).flatMap((item) => (item.type === 'worktree' ? [item] : []))
const outputs = (ended: Exec) =>
  items(ended).flatMap((item) => (item.type === 'command_execution' ? [item.aggregated_output] : []))
/** The results that the model got for its calls, in order. */
const results = ({ requests }: Exec): readonly string[] =>
  (requests.at(-1)?.body as { input: { type: string; output?: string }[] }).input.flatMap(({ output }) => output ?? [])

function git(cwd: string, ...words: readonly string[]): string {
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org']
  return execFileSync('git', [...who, ...words], { cwd, encoding: 'utf8' }).trim()
}

const committing = 'git -c user.name=Ann -c user.email=ann@example.org commit -q'

function committed(files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' }): string {
  const cwd = repository(files)
  git(cwd, 'add', '-A')
  git(cwd, 'commit', '-q', '-m', 'first')
  return cwd
}

const json = (replies: readonly Reply[], cwd: string, home = tempDir(), args: readonly string[] = []) =>
  exec(replies, ['--json', '--in-place', ...args, 'x'], { cwd, home })

describe.skipIf(needsBubblewrap())('enter_worktree', () => {
  test('commands, patches and file tools work on a new branch, and the original tree can only be read', async () => {
    const cwd = committed()
    const home = tempDir()
    const ended = await json(
      [
        [enter()],
        [run('pwd; git branch --show-current; cat a.txt'), run('echo two > by-command'), run(`echo x > ${cwd}/made`)],
        [freeform('apply_patch', '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+patched\n*** End Patch\n')],
        [
          call('write_file', { path: 'by-tool', content: 'x' }),
          call('write_file', { path: `${cwd}/made`, content: 'x' }),
        ],
        [freeform('apply_patch', `*** Begin Patch\n*** Add File: ${cwd}/made\n+x\n*** End Patch\n`)],
        [call('js_repl', { code: 'process.cwd()' }), call('glob', { pattern: '*' })],
        [run(`git add -A && ${committing} -m second`)],
        done,
      ],
      cwd,
      home,
    )
    expect(ended.code, ended.stderr).toBe(0)
    const [move] = moves(ended)
    expect(move).toMatchObject({ state: 'entered', branch: 'worktree-job' })
    const path = move?.path ?? ''
    expect(path.startsWith(join(home, '.local/share/portcullis-worktrees'))).toBe(true)
    expect(outputs(ended)[0]).toBe(`${path}\nworktree-job\none\n`)
    expect(results(ended).join('\n')).toContain(`=> '${path}'`)
    expect(readdirSync(path).sort()).toEqual(['.git', 'a.txt', 'by-command', 'by-tool'])
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('patched\n')
    expect([git(cwd, 'status', '--porcelain'), readdirSync(cwd).sort()]).toEqual(['', ['.git', 'a.txt']])
    expect(git(cwd, 'log', '--format=%s', 'worktree-job')).toBe('second\nfirst')
  })

  test('programs that the repository’s configuration names are not run on the host, and write nothing outside', async () => {
    const cwd = committed({ 'a.txt': 'one\n', '.gitattributes': '* filter=evil\n' })
    const proof = join(tempDir(), 'proof')
    const hook = join(cwd, '.git/hooks/post-checkout')
    mkdirSync(join(cwd, '.git/hooks'), { recursive: true })
    writeFileSync(hook, `#!/bin/sh\ntouch ${proof}-hook ${cwd}/proof-hook\n`, { mode: 0o755 })
    writeFileSync(join(cwd, '.git/hooks/reference-transaction'), `#!/bin/sh\ntouch ${cwd}/proof-hook\n`, {
      mode: 0o755,
    })
    git(cwd, 'config', 'core.fsmonitor', `touch ${cwd}/proof-monitor; false`)
    git(cwd, 'config', 'filter.evil.smudge', `touch ${proof}; cat`)
    const proofs = [proof, `${proof}-hook`, join(cwd, 'proof-hook'), join(cwd, 'proof-monitor')]
    const ended = await json([[enter()], [exit('remove', { discard_changes: true })], done], cwd)
    expect(moves(ended).map(({ state }) => state)).toEqual(['entered', 'removed'])
    expect(proofs.filter((path) => existsSync(path))).toEqual([])
    // Plain git does start these programs, so it must be the run that prevents this.
    git(cwd, 'worktree', 'add', '-q', join(tempDir(), 'plain'))
    git(cwd, 'status')
    expect(proofs.filter((path) => !existsSync(path))).toEqual([])
  })

  test.each([
    ['of a branch that is there', { name: 'job' }, 'already exists'],
    ['from what is no commit', { name: 'other', base: 'nowhere' }, 'nowhere is not a commit'],
    ['from what is an option', { name: 'other', base: '--help' }, '--help is not a commit'],
  ])('a worktree %s is not made, and the run stays where it is', async (_, input, reason) => {
    const cwd = committed()
    git(cwd, 'branch', 'worktree-job')
    const ended = await json([[call('enter_worktree', input)], [run('pwd')], done], cwd)
    expect(results(ended)[0]).toContain(reason)
    expect([moves(ended), outputs(ended)]).toEqual([[], [`${cwd}\n`]])
  })

  test('from a folder of the repository it leads to the same folder, and from a worktree to one next to it', async () => {
    const main = committed({ 'sub/a.txt': 'one\n', 'b.txt': 'two\n' })
    const cwd = join(tempDir(), 'linked')
    git(main, 'worktree', 'add', '-q', '-b', 'linked', cwd)
    const sub = await json([[enter()], [run('pwd; ls')], [exit('remove')], done], join(main, 'sub'))
    expect(outputs(sub)[0]).toBe(`${moves(sub)[0]?.path}/sub\na.txt\n`)
    const beside = await json([[enter()], [run('pwd; ls')], [exit('remove')], done], cwd)
    expect(outputs(beside)[0]).toBe(`${moves(beside)[0]?.path}\nb.txt\nsub\n`)
    for (const ended of [sub, beside]) expect(moves(ended).map(({ state }) => state)).toEqual(['entered', 'removed'])
    expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(2)
  })

  test('a link in place of the folder where the run began gives no access outside', async () => {
    const other = tempDir({ 'kept.txt': 'x' })
    const cwd = committed()
    symlinkSync(other, join(cwd, 'sub'))
    git(cwd, 'add', '-A')
    git(cwd, 'commit', '-q', '-m', 'a link')
    rmSync(join(cwd, 'sub'))
    mkdirSync(join(cwd, 'sub'))
    const ended = await json([[enter()], [run(`pwd; touch ${other}/made sub/made`)], done], join(cwd, 'sub'))
    expect(outputs(ended)[0]).toContain(`${moves(ended)[0]?.path}\n`)
    expect(readdirSync(other)).toEqual(['kept.txt'])
  })

  test('it also works without a sandbox', async () => {
    const cwd = committed()
    const ended = await json([[enter()], [run('pwd; touch made')], [exit('keep')], done], cwd, tempDir(), [
      '-s',
      'danger-full-access',
    ])
    const path = moves(ended)[0]?.path ?? ''
    expect([outputs(ended)[0], existsSync(join(path, 'made'))]).toEqual([`${path}\n`, true])
  })

  test('a name cannot lead elsewhere', async () => {
    for (const name of ['../x', 'a/b', '..', '-f', '']) {
      const ended = await json([[enter(name)], done], committed())
      expect(results(ended)[0]).toContain('the arguments are not valid')
    }
  })

  test('a rule against it holds, and so do permissions for files of the original tree', async () => {
    const cwd = committed({ 'a.txt': 'one\n', 'secrets/key.txt': 'hidden\n', '.claude/settings.json': '{}' })
    const ruled = tempDir({
      '.config/portcullis/rules/own.rules': 'prefix_rule(pattern = ["git", "worktree"], decision = "forbidden")\n',
    })
    const refused = await json([[enter()], done], cwd, ruled)
    expect([moves(refused), refused.events.at(-1)]).toMatchObject([[], { denied: 1 }])
    const permissions = { deny: ['Read(./secrets/**)', 'Edit(./a.txt)', `Read(/${cwd}/.claude/**)`] }
    const home = tempDir({ '.claude/settings.json': JSON.stringify({ permissions }) })
    const ended = await json(
      [
        [enter()],
        [call('read_file', { path: 'secrets/key.txt' }), run('cat secrets/key.txt'), run('cat .claude/settings.json')],
        [freeform('apply_patch', '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n')],
        done,
      ],
      cwd,
      home,
    )
    expect(ended.events.at(-1)).toMatchObject({ denied: 4 })
    expect(results(ended).join()).not.toContain('hidden')
  })

  test('running commands and agents must end first', async () => {
    const cwd = committed()
    const replies = [
      [run('sleep 60', { yield_time_ms: 50 })],
      [enter()],
      [call('kill_session', { session_id: 1 })],
      [enter()],
      [enter('other')],
      done,
    ]
    const ended = await json(replies, cwd)
    expect(results(ended)[1]).toContain('Commands are still running here: 1.')
    expect(results(ended)[4]).toContain('Leave it with exit_worktree first.')
    expect(moves(ended)).toHaveLength(1)
  })

  test('an agent works where the run does', async () => {
    const cwd = committed()
    const hand = call('agent', { title: 'a task', prompt: 'make it' })
    const ended = await json([[enter()], [hand], [run('pwd; touch made')], [say('made')], done], cwd)
    const path = moves(ended)[0]?.path ?? ''
    expect([outputs(ended)[0], existsSync(join(path, 'made')), existsSync(join(cwd, 'made'))]).toEqual([
      `${path}\n`,
      true,
      false,
    ])
  })

  test('is refused in plan mode, in a read-only sandbox, and outside a repository', async () => {
    const cwd = committed()
    const planning = await json([[enter()], done], cwd, tempDir(), ['--plan'])
    expect(results(planning)[0]).toContain('Plan mode is on')
    const reading = await json([[enter()], done], cwd, tempDir(), ['-s', 'read-only'])
    expect(results(reading)[0]).toContain('there are no changes to keep separate')
    const nowhere = await json([[enter()], done], tempDir(), tempDir(), ['--skip-git-repo-check'])
    expect(results(nowhere)[0]).toContain('is not in a git repository')
  })
})

describe.skipIf(needsBubblewrap())('exit_worktree', () => {
  test('keep returns to the original tree, and leaves files and branch', async () => {
    const cwd = committed()
    const ended = await json([[enter()], [run('touch made')], [exit('keep')], [run('pwd; touch here')], done], cwd)
    const [entered, left] = moves(ended)
    expect(left).toMatchObject({ state: 'left', path: entered?.path, branch: 'worktree-job' })
    expect([existsSync(join(entered?.path ?? '', 'made')), existsSync(join(cwd, 'here'))]).toEqual([true, true])
    expect(outputs(ended)[1]).toBe(`${cwd}\n`)
    expect(git(cwd, 'worktree', 'list').split('\n')).toHaveLength(2)
  })

  test('remove leaves nothing in the folder, in the repository or among its branches', async () => {
    const cwd = committed()
    const ended = await json([[enter()], [exit('remove')], [run('pwd')], done], cwd)
    expect(moves(ended).map(({ state }) => state)).toEqual(['entered', 'removed'])
    expect(existsSync(moves(ended)[0]?.path ?? '')).toBe(false)
    expect([git(cwd, 'worktree', 'list').split('\n').length, git(cwd, 'branch', '--list', 'worktree-job')]).toEqual([
      1,
      '',
    ])
    expect(outputs(ended)).toEqual([`${cwd}\n`])
  })

  test.each([
    ['uncommitted files', 'touch made', '1 uncommitted file'],
    ['commits', `echo x > made && git add -A && ${committing} -m more`, '1 commit'],
  ])('remove is refused where %s would be lost, unless that is said', async (_, cmd, lost) => {
    const cwd = committed()
    const ended = await json(
      [[enter()], [run(cmd)], [exit('remove')], [run('pwd')], [exit('remove', { discard_changes: true })], done],
      cwd,
    )
    expect(results(ended)[2]).toContain(`Removing it would lose ${lost}.`)
    expect(moves(ended).map(({ state }) => state)).toEqual(['entered', 'removed'])
    expect(outputs(ended).at(-1)).toBe(`${moves(ended)[0]?.path}\n`)
    expect(existsSync(moves(ended)[0]?.path ?? '')).toBe(false)
  })

  test('a link that a command put into the worktree is removed, but not its target', async () => {
    const cwd = committed()
    const other = tempDir({ 'kept.txt': 'x' })
    const ended = await json(
      [[enter()], [run(`ln -s ${other} link; ln -s ${cwd} tree`)], [exit('remove', { discard_changes: true })], done],
      cwd,
    )
    expect(moves(ended).at(-1)).toMatchObject({ state: 'removed' })
    expect([existsSync(join(other, 'kept.txt')), existsSync(join(cwd, 'a.txt'))]).toEqual([true, true])
  })

  test('reports if the run is in no worktree', async () => {
    expect(results(await json([[exit('keep')], done], committed()))[0]).toBe('You are not in a worktree.')
  })
})

describe.skipIf(needsBubblewrap())('a session in a worktree', () => {
  test('is in it again when resumed, but a fork is not', async () => {
    const cwd = committed()
    const home = tempDir()
    const first = await json([[enter()], done], cwd, home)
    const path = moves(first)[0]?.path ?? ''
    const next = await exec([[run('pwd; touch again')], done], ['--json', '--in-place', 'resume', '--last', 'go on'], {
      cwd,
      home,
    })
    expect([outputs(next), existsSync(join(path, 'again'))]).toEqual([[`${path}\n`], true])
    expect(JSON.stringify(next.requests[0]?.body)).toContain(
      `You work in ${path}, on the branch worktree-job, a worktree.`,
    )
    const forked = await exec([[run('pwd')], done], ['--json', '--in-place', 'fork', '--last', 'go on'], { cwd, home })
    expect(outputs(forked)).toEqual([`${cwd}\n`])
  })

  test('continues in the original tree if somebody has removed the worktree', async () => {
    const cwd = committed()
    const home = tempDir()
    const first = await json([[enter()], done], cwd, home)
    git(cwd, 'worktree', 'remove', '--force', moves(first)[0]?.path ?? '')
    const next = await exec([[run('pwd')], done], ['--json', '--in-place', 'resume', '--last', 'go on'], { cwd, home })
    expect(outputs(next)).toEqual([`${cwd}\n`])
    expect(items(next)).toContainEqual(
      expect.objectContaining({
        type: 'error',
        message: expect.stringContaining('no longer exists, so the session continues in the directory where it began'),
      }),
    )
  })
})

describe.skipIf(needsBubblewrap())('hooks of worktrees', () => {
  const log = (home: string): readonly object[] =>
    readFileSync(join(home, '.claude/log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
  const note = 'cat >> ~/.claude/log; echo >> ~/.claude/log'
  const group = (command: string) => [{ hooks: [{ type: 'command', command }] }]
  const homeWith = (hooks: object) => tempDir({ '.claude/settings.json': JSON.stringify({ hooks }) })

  test('CwdChanged gets both directories, later hooks run in the new one, and commands get the variables that it exports', async () => {
    const cwd = committed()
    const home = homeWith({
      CwdChanged: group(`${note}; echo "export PLACE=$(basename "$PWD")" > "$CLAUDE_ENV_FILE"`),
      PostToolUse: group('pwd >> ~/.claude/places'),
    })
    const ended = await json(
      [[enter()], [run('echo "$PLACE"')], [exit('keep')], [run('echo "$PLACE"')], done],
      cwd,
      home,
    )
    const path = moves(ended)[0]?.path
    expect(log(home)).toMatchObject([
      { hook_event_name: 'CwdChanged', old_cwd: cwd, new_cwd: path, cwd: path },
      { hook_event_name: 'CwdChanged', old_cwd: path, new_cwd: cwd, cwd },
    ])
    expect(outputs(ended)[0]).toBe('job\n')
    expect(readFileSync(join(home, '.claude/places'), 'utf8').split('\n').slice(0, 3)).toEqual([path, path, cwd])
  })

  test('WorktreeCreate makes the worktree instead of git, and WorktreeRemove removes it', async () => {
    const cwd = committed()
    const make = `name=$(sed -n 's/.*"name":"\\([a-z]*\\)".*/\\1/p'); mkdir -p ~/.claude/worktrees/$name && echo ~/.claude/worktrees/$name`
    const remove = `sed -n 's/.*"worktree_path":"\\([^"]*\\)".*/\\1/p' | xargs rm -rf`
    const home = homeWith({ WorktreeCreate: group(make), WorktreeRemove: group(remove) })
    const ended = await json(
      [[enter('job')], [run(`pwd; touch made; touch ${cwd}/made`)], [exit('remove', { discard_changes: true })], done],
      cwd,
      home,
    )
    const path = join(home, '.claude/worktrees/job')
    expect(moves(ended)).toMatchObject([
      { state: 'entered', path },
      { state: 'removed', path },
    ])
    expect(outputs(ended)[0]).toContain(`${path}\n`)
    expect([existsSync(path), existsSync(join(cwd, 'made')), git(cwd, 'branch', '--list', 'worktree-job')]).toEqual([
      false,
      false,
      '',
    ])
  })

  test.each([
    ['fails', 'exit 1', 'A guard hook that fails blocks the action that it guards'],
    ['says no', 'echo "not here" >&2; exit 2', 'not here'],
    ['prints nothing', 'true', 'printed no path'],
    ['prints a place that is not there', 'echo /nowhere/at/all', 'has to print the absolute path of a directory'],
    ['prints a place that the run may not write', 'echo /usr', 'nor in a writable folder'],
    ['prints the tree itself', 'pwd', 'nor in a writable folder'],
  ])('there is no worktree where the WorktreeCreate hook %s', async (_, command, reason) => {
    const cwd = committed()
    const ended = await json([[enter()], [run('pwd')], done], cwd, homeWith({ WorktreeCreate: group(command) }))
    expect(results(ended)[0]).toContain(reason)
    expect([moves(ended), outputs(ended)]).toEqual([[], [`${cwd}\n`]])
  })
})
