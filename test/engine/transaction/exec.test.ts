import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'
import { fingerprint } from './fingerprint.ts'

const cmd = (text: string) => [call('exec_command', { cmd: text })]
const patch = (text: string) => [call('apply_patch', { input: `*** Begin Patch\n${text}\n*** End Patch` })]

/** A repository with one commit. */
function committed(files: Readonly<Record<string, string>>): string {
  const cwd = repository(files)
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', cwd, '-c', 'user.name=x', '-c', 'user.email=x@x', ...words])
  git('add', '.')
  git('commit', '-qm', 'first')
  // Git reads a file again if it has the same time as the index, so the index gets a later time.
  execFileSync('sh', ['-c', 'sleep 1.1; touch .git/index; git status >/dev/null'], { cwd })
  return cwd
}

/** Performs a transactional run with these steps. `before` is called before the last answer. */
function runOnView(
  cwd: string,
  steps: readonly Reply[],
  {
    args = [],
    before,
    ...options
  }: { args?: readonly string[]; before?: () => void; home?: string; env?: Record<string, string> } = {},
): Promise<Exec> {
  return exec(
    (index) => {
      if (index === steps.length) before?.()
      return steps[index] ?? [say('done')]
    },
    ['--json', ...args, 'x'],
    { cwd, ...options },
  )
}

const reportOf = ({ events }: Exec) => {
  const last = events.at(-1)
  return last?.type === 'turn.completed' || last?.type === 'turn.failed' ? last.transaction : undefined
}

const read = (cwd: string, path: string): string => readFileSync(join(cwd, path), 'utf8')

describe.skipIf(needsBubblewrap())('a run that is a transaction', () => {
  test('lands all changes of patches and commands together at its end', async () => {
    const cwd = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'gone/c.txt': 'c\n' })
    const before = fingerprint(cwd)
    let during: unknown
    const steps = [
      patch(`*** Update File: a.txt\n@@\n-a\n+patched\n*** Add File: ${cwd}/absolute.txt\n+x`),
      cmd('pwd; cat a.txt; echo commanded > b.txt; rm -r gone; mkdir empty; chmod +x a.txt; ln -s a.txt link'),
      [call('read_file', { path: join(cwd, 'a.txt') })],
      [call('write_file', { path: join(cwd, 'written.txt'), content: 'w\n' })],
    ]
    const ended = await runOnView(cwd, steps, { before: () => (during = fingerprint(cwd)) })
    expect(ended.code).toBe(0)
    expect(during).toEqual(before)
    expect(read(cwd, 'a.txt')).toBe('patched\n')
    const tree = execFileSync(
      'find',
      ['.', '-name', '.git', '-prune', '-o', '-mindepth', '1', '-printf', '%P %y %m %l\n'],
      { cwd },
    )
    expect(tree.toString().split('\n').slice(0, -1).toSorted()).toEqual([
      'a.txt f 755 ',
      'absolute.txt f 644 ',
      'b.txt f 644 ',
      'empty d 755 ',
      'link l 777 a.txt',
      'written.txt f 644 ',
    ])
    // The view's location is not disclosed.
    expect(ended.stdout.replaceAll(/"patch":"[^"]*"/g, '')).not.toContain('/view/')
    expect(JSON.stringify(ended.requests)).not.toContain('/view/')
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', conflicts: [], can_undo: true })
    expect(ended.events[0]).toMatchObject({ config: { transaction: { roots: [cwd], land: 'on-success' } } })
  })

  test('has an index of git that fits its copies: git reads only a file that changed', async () => {
    const cwd = committed({ 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'c.txt': 'c\n' })
    writeFileSync(join(cwd, 'c.txt'), 'x\n')
    // The first command lists each file that git would have to read to know whether it changed.
    const steps = [cmd('git diff-files --name-only'), cmd('printf "z\\n" > d/b.txt; git status --porcelain')]
    const { events } = await runOnView(cwd, steps, { args: ['--view=copy', '--land', 'never'] })
    const outputs = events.flatMap((event) =>
      event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item.aggregated_output] : [],
    )
    expect(outputs).toEqual(['c.txt\n', ' M c.txt\n M d/b.txt\n'])
  })

  test('is reverted completely by one apply-patch undo', async () => {
    const cwd = repository({ 'a.txt': 'a\n', 'gone/c.txt': 'c\n' })
    const facts = (): unknown =>
      execFileSync('sh', ['-c', 'find . -path ./.git -prune -o -printf "%P %y %m\n" | sort; cat a.txt gone/*'], {
        cwd,
      }).toString()
    const before = facts()
    const home = tempDir()
    const { code } = await runOnView(
      cwd,
      [cmd('echo x > a.txt; rm -r gone; mkdir -p n/e; echo n > n/f; printf "\\0" > bin')],
      { home },
    )
    expect([code, readdirSync(cwd).toSorted()]).toEqual([0, ['.git', 'a.txt', 'bin', 'n']])
    const undo = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
    execFileSync(process.execPath, [undo, 'undo'], { cwd, env: { ...process.env, HOME: home, XDG_STATE_HOME: '' } })
    expect(facts()).toEqual(before)
  })

  test.each([
    ['fails', [cmd('echo x > a.txt; rm b.txt; mkdir d'), cmd('false')], ['--max-turns', '2'], 4],
    [
      'is stopped by a refusal',
      [cmd('echo x > a.txt; chmod 600 b.txt'), cmd('git push --force')],
      ['--fail-on-denied'],
      3,
    ],
    ['is not to land', [cmd('echo x > a.txt; git add a.txt; ln -s x y; touch b.txt')], ['--land', 'never'], 0],
  ] as const)('changes nothing at all where it %s', async (_, steps, args, code) => {
    const cwd = committed({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const before = fingerprint(cwd)
    const ended = await runOnView(cwd, steps, { args })
    expect(ended.code).toBe(code)
    expect(fingerprint(cwd)).toEqual(before)
    expect(reportOf(ended)).toMatchObject({ outcome: 'kept' })
    // The patch is still available.
    execFileSync('git', ['apply', '--check', '--binary', reportOf(ended)?.patch ?? ''], { cwd })
  })

  test('also lands after a failure if it is set to always land', async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const ended = await runOnView(cwd, [cmd('echo x > a.txt'), cmd('false')], {
      args: ['--max-turns', '2', '--land', 'always'],
    })
    expect([ended.code, read(cwd, 'a.txt')]).toEqual([4, 'x\n'])
  })

  test('lands next to changes that somebody else makes meanwhile in other files, or in other lines of the same file', async () => {
    const lines = (first: string, last: string): string => `${first}\n2\n3\n4\n5\n${last}\n`
    const cwd = committed({ 'a.txt': lines('1', '6'), 'b.txt': 'b\n' })
    const ended = await runOnView(cwd, [cmd('sed -i s/1/one/ a.txt')], {
      before: () => {
        writeFileSync(join(cwd, 'a.txt'), lines('1', 'six'))
        writeFileSync(join(cwd, 'b.txt'), 'theirs\n')
        writeFileSync(join(cwd, 'c.txt'), 'theirs\n')
      },
    })
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', merged: [join(cwd, 'a.txt')] })
    expect([ended.code, read(cwd, 'a.txt'), read(cwd, 'b.txt'), read(cwd, 'c.txt')]).toEqual([
      0,
      lines('one', 'six'),
      'theirs\n',
      'theirs\n',
    ])
  })

  test.each([
    ['the same line', 'echo run > a.txt', (cwd: string) => writeFileSync(join(cwd, 'a.txt'), 'theirs\n')],
    ['a file that the run removed', 'rm a.txt', (cwd: string) => writeFileSync(join(cwd, 'a.txt'), 'theirs\n')],
    ['a file by removing it', 'echo run > a.txt', (cwd: string) => rmSync(join(cwd, 'a.txt'))],
    ['a file by making it too', 'echo run > new.txt', (cwd: string) => writeFileSync(join(cwd, 'new.txt'), 'theirs\n')],
    [
      'a directory to a link',
      'echo run > d/x.txt',
      (cwd: string) => {
        rmSync(join(cwd, 'd'), { recursive: true })
        symlinkSync('/tmp', join(cwd, 'd'))
      },
    ],
    [
      'a file to a directory',
      'echo run > a.txt',
      (cwd: string) => {
        rmSync(join(cwd, 'a.txt'))
        mkdirSync(join(cwd, 'a.txt'))
      },
    ],
  ] as const)('lands nothing where somebody else changes %s', async (_, command, theirs) => {
    const cwd = committed({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'd/y.txt': 'y\n' })
    let after: unknown
    const ended = await runOnView(cwd, [cmd(`${command}; echo x > b.txt`)], {
      before: () => {
        theirs(cwd)
        after = fingerprint(cwd)
      },
    })
    expect(ended.code).toBe(1)
    expect(fingerprint(cwd)).toEqual(after)
    expect(reportOf(ended)).toMatchObject({ outcome: 'conflict' })
    expect(reportOf(ended)?.conflicts).toHaveLength(1)
    expect(read('/', reportOf(ended)?.patch ?? '')).toContain('b.txt')
  })

  test('lands on another branch that is checked out meanwhile, unless the same lines differ there', async () => {
    const meanwhile = async (other: string) => {
      const cwd = committed({ 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n' })
      const git = (...words: string[]): string =>
        execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...words], { cwd, encoding: 'utf8' })
      git('checkout', '-q', '-b', 'other')
      writeFileSync(join(cwd, 'a.txt'), other)
      git('commit', '-qam', 'theirs')
      git('checkout', '-q', '-')
      execFileSync('sh', ['-c', 'sleep 1.1; touch .git/index; git status >/dev/null'], { cwd })
      const ended = await runOnView(cwd, [cmd('sed -i s/1/one/ a.txt; echo x > b.txt')], {
        before: () => git('checkout', '-q', 'other'),
      })
      const branch = git('symbolic-ref', '--short', 'HEAD').trim()
      return [reportOf(ended)?.outcome, branch, read(cwd, 'a.txt'), read(cwd, 'b.txt')]
    }
    expect(await meanwhile('1\n2\n3\n4\nfive\n')).toEqual(['landed', 'other', 'one\n2\n3\n4\nfive\n', 'x\n'])
    expect(await meanwhile('eins\n2\n3\n4\n5\n')).toEqual(['conflict', 'other', 'eins\n2\n3\n4\n5\n', 'b\n'])
  })

  test('lands nothing if the earlier content of a changed file is unknown', async () => {
    const cwd = repository({ 'untracked.txt': '1\n2\n3\n4\n' })
    const ended = await runOnView(cwd, [cmd('sed -i s/1/one/ untracked.txt')], {
      before: () => writeFileSync(join(cwd, 'untracked.txt'), '1\n2\n3\nfour\n'),
    })
    expect(reportOf(ended)).toMatchObject({ outcome: 'conflict' })
    expect(read(cwd, 'untracked.txt')).toBe('1\n2\n3\nfour\n')
  })

  test('lands files that git ignores, or keeps them with the run on request', async () => {
    const files = { '.gitignore': 'out/\n*.log\n', 'out/old.txt': 'old\n', 'kept/a.txt': 'a\n' }
    const command = 'echo new > out/new.txt; rm out/old.txt; mkdir -p logs; echo x > logs/a.log; echo b > kept/b.txt'
    const kept = repository(files)
    const ended = await runOnView(kept, [cmd(command)], { args: ['--land-ignored=no'] })
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', files: 1, ignored: { files: 3, landed: false } })
    expect([readdirSync(kept).toSorted(), readdirSync(join(kept, 'out'))]).toEqual([
      ['.git', '.gitignore', 'kept', 'out'],
      ['old.txt'],
    ])
    const landed = repository(files)
    await runOnView(landed, [cmd(command)], { args: [] })
    expect([readdirSync(landed).toSorted(), readdirSync(join(landed, 'out'))]).toEqual([
      ['.git', '.gitignore', 'kept', 'logs', 'out'],
      ['new.txt'],
    ])
  })

  test('lands files of every kind: bytes, modes, links, files in the place of directories and back', async () => {
    const cwd = committed({
      'bytes.bin': 'a\0b',
      'dir/x.txt': 'x\n',
      'file.txt': 'f\n',
      'read-only.txt': 'r\n',
      'run.sh': '#!/bin/sh\n',
      'l/z.txt': 'z\n',
    })
    chmodSync(join(cwd, 'read-only.txt'), 0o444)
    const command = [
      'head -c 3000 /dev/urandom > random.bin; printf "c\\0d" > bytes.bin',
      'rm -r dir; echo file > dir; rm file.txt; mkdir -p file.txt/deep; echo in > file.txt/deep/in.txt',
      'chmod +w read-only.txt; echo w > read-only.txt; chmod 444 read-only.txt; chmod 755 run.sh; chmod 700 l',
      'printf "no end" > "odd \\\\ \\" name"; mv l moved; ln -s nowhere dangling; : > empty-file; mkfifo pipe',
    ].join('; ')
    const plain = tempDir()
    execFileSync('cp', ['-a', `${cwd}/.`, plain])
    const ended = await runOnView(cwd, [cmd(command)])
    expect(reportOf(ended)).toMatchObject({ outcome: 'landed', not_landed: [join(cwd, 'pipe')] })
    execFileSync(
      'sh',
      [
        '-c',
        command
          .replace('head -c 3000 /dev/urandom > random.bin', `cp ${cwd}/random.bin .`)
          .replace('; mkfifo pipe', ''),
      ],
      { cwd: plain },
    )
    const facts = (at: string): string =>
      execFileSync(
        'sh',
        [
          '-c',
          'find . -name .git -prune -o -printf "%P %y %m %l\n" | sort; find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum',
        ],
        { cwd: at },
      ).toString()
    expect(facts(cwd)).toBe(facts(plain))
    expect(ended.code).toBe(0)
  })

  test('works in a subdirectory of a repository, and lands there', async () => {
    const cwd = committed({ 'sub/a.txt': 'a\n', 'beside.txt': 'b\n' })
    const ended = await runOnView(join(cwd, 'sub'), [
      cmd('cat ../beside.txt; echo x > a.txt; echo x > ../beside.txt; git status --porcelain'),
    ])
    expect([ended.code, read(cwd, 'sub/a.txt'), read(cwd, 'beside.txt')]).toEqual([0, 'x\n', 'b\n'])
    expect(ended.stdout).toContain(' M sub/a.txt')
  })

  test('also gives further writable directories a view, and lands all of them together', async () => {
    const [cwd, more] = [repository({ 'a.txt': 'a\n' }), tempDir({ 'm.txt': 'm\n' })]
    const args = ['--add-dir', more]
    const failed = await runOnView(cwd, [cmd(`echo x > ${more}/m.txt; cat ${more}/m.txt`), cmd('false')], {
      args: [...args, '--max-turns', '2'],
    })
    expect([failed.code, read(more, 'm.txt')]).toEqual([4, 'm\n'])
    const landed = await runOnView(cwd, [cmd(`echo x > ${more}/m.txt; echo x > a.txt`)], { args })
    expect([landed.code, read(more, 'm.txt'), read(cwd, 'a.txt')]).toEqual([0, 'x\n', 'x\n'])
  })

  test('works outside a repository', async () => {
    const cwd = tempDir({ 'a.txt': 'a\n' })
    const ended = await runOnView(cwd, [cmd('echo x > a.txt')], { args: ['--skip-git-repo-check'] })
    expect([ended.code, read(cwd, 'a.txt')]).toEqual([0, 'x\n'])
  })

  test('continues an interrupted session in its view automatically', async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    const home = tempDir()
    const before = fingerprint(cwd)
    const first = await runOnView(cwd, [cmd('echo x > a.txt; echo y > b.txt'), cmd('false')], {
      home,
      args: ['--max-turns', '2'],
    })
    expect([first.code, fingerprint(cwd)]).toEqual([4, before])
    const second = await exec(
      [cmd('cat a.txt b.txt; echo z > c.txt'), [say('done')]],
      ['--json', 'resume', '--last', 'go on'],
      { cwd, home },
    )
    expect(second.stdout).toContain('x\\ny\\n')
    expect([second.code, read(cwd, 'a.txt'), read(cwd, 'b.txt'), read(cwd, 'c.txt')]).toEqual([0, 'x\n', 'y\n', 'z\n'])
  })

  test('stays a transaction when its session is resumed after it has landed', async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    const home = tempDir()
    await runOnView(cwd, [cmd('echo x > a.txt')], { home })
    const before = fingerprint(cwd)
    const args = ['--json', '--max-turns', '2', 'resume', '--last', 'go on']
    const again = await exec([cmd('cat a.txt; echo y > a.txt'), cmd('false')], args, { cwd, home })
    expect([again.code, fingerprint(cwd)]).toEqual([4, before])
  })

  test('stays a transaction when its session is forked, and reports that the new view does not contain the changes that did not land', async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    const home = tempDir()
    await runOnView(cwd, [cmd('echo x > a.txt')], { home, args: ['--land', 'never'] })
    const before = fingerprint(cwd)
    const args = ['--max-turns', '2', 'fork', '--last', 'go on']
    const again = await exec([cmd('cat a.txt; echo y > a.txt'), cmd('false')], args, { cwd, home })
    expect([again.code, fingerprint(cwd)]).toEqual([4, before])
    expect(again.stderr).toContain('that have not landed: to land them, run agent apply ')
    const json = ['--json', 'fork', '--last', 'go on']
    const landed = await exec([cmd('cat a.txt; echo z > a.txt'), [say('done')]], json, { cwd, home })
    expect([landed.code, read(cwd, 'a.txt')]).toEqual([0, 'z\n'])
    expect(landed.events.at(-1)).toMatchObject({ transaction: { outcome: 'landed' } })
  })

  test('can be taken back after its session was resumed, together with what the resumed run landed', async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    const home = tempDir()
    const by = 'git -c user.name=x -c user.email=x@x'
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' })
    await runOnView(cwd, [cmd(`echo x > a.txt; ${by} commit -qam one`)], { home })
    await exec(
      [cmd(`echo y > b.txt; git add b.txt; ${by} commit -qm two`), [say('done')]],
      ['--json', 'resume', '--last', 'go on'],
      { cwd, home },
    )
    const log = (): string => execFileSync('git', ['log', '--format=%s', '-n2'], { cwd, encoding: 'utf8' })
    expect([read(cwd, 'b.txt'), log()]).toEqual(['y\n', 'two\none\n'])
    expect((await agent(['undo', '--last'], { cwd, home })).stdout).toMatch(/^Reverted\./)
    expect([read(cwd, 'a.txt'), existsSync(join(cwd, 'b.txt'))]).toEqual(['a\n', false])
    expect(execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' })).toBe(head)
  })

  test('can be taken back after its session was resumed by a run that failed', async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    const home = tempDir()
    await runOnView(cwd, [cmd('echo x > a.txt')], { home })
    const args = ['--json', '--max-turns', '1', 'resume', '--last', 'go on']
    expect((await exec([cmd('echo y > a.txt'), cmd('false')], args, { cwd, home })).code).toBe(4)
    expect(read(cwd, 'a.txt')).toBe('x\n')
    expect((await agent(['undo', '--last'], { cwd, home })).stdout).toMatch(/^Reverted\./)
    expect(read(cwd, 'a.txt')).toBe('a\n')
  })

  test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
    'changes nothing when it is ended by %s, and goes on as it was left',
    async (signal) => {
      const cwd = committed({ 'a.txt': 'a\n', 'd/b.txt': 'b\n' })
      const home = tempDir()
      const before = fingerprint(cwd)
      let end = (): void => undefined
      const ended = await exec(
        (index) => {
          if (index === 1) end()
          return index === 0 ? cmd('echo x > a.txt; rm -r d; mkdir e; git add -A; ln a.txt hard') : cmd('sleep 60')
        },
        ['--json', 'x'],
        { cwd, home, onStart: (child) => (end = () => void child.kill(signal)) },
      )
      expect(ended.code).not.toBe(0)
      expect(fingerprint(cwd)).toEqual(before)
      const resumed = await exec([cmd('cat a.txt; ls'), [say('done')]], ['--json', 'resume', '--last', 'go on'], {
        cwd,
        home,
      })
      expect(resumed.stdout).toContain('x\\na.txt\\ne\\nhard')
      expect([resumed.code, read(cwd, 'a.txt'), readdirSync(cwd).toSorted()]).toEqual([
        0,
        'x\n',
        ['.git', 'a.txt', 'e', 'hard'],
      ])
    },
  )

  test('is judged by what its run was told, also when it lands after the run was killed', async () => {
    const cwd = committed({ 'a.txt': 'a\n', '.gitignore': 'out/\n' })
    const home = tempDir()
    let end = (): void => undefined
    const told = ['--land-ignored=no', '-c', 'protected.allow=[".vscode/settings.json"]']
    await exec(
      (index) => {
        if (index === 1) end()
        return index === 0
          ? cmd('mkdir out .vscode; for f in out/y .vscode/settings.json a.txt; do echo x > $f; done')
          : []
      },
      ['--json', ...told, 'x'],
      { cwd, home, onStart: (child) => (end = () => void child.kill('SIGKILL')) },
    )
    expect((await agent(['apply', '--last'], { cwd, home })).code).toBe(0)
    expect([read(cwd, '.vscode/settings.json'), read(cwd, 'a.txt')]).toEqual(['x\n', 'x\n'])
    expect(existsSync(join(cwd, 'out'))).toBe(false)
  })

  test('does not see another transaction in the same workspace, and the second to land merges', async () => {
    const cwd = committed({ 'a.txt': '1\n2\n3\n4\n5\n' })
    let other: Promise<Exec> | undefined
    const first = await exec(
      (index) => {
        if (index === 1) other = runOnView(cwd, [cmd('sed -i s/5/five/ a.txt')])
        return [cmd('sed -i s/1/one/ a.txt'), cmd('sleep 6; cat a.txt')][index] ?? [say('done')]
      },
      ['--json', 'x'],
      { cwd },
    )
    expect((await other)?.code).toBe(0)
    expect(first.stdout).toContain('one\\n2\\n3\\n4\\n5\\n')
    expect([first.code, read(cwd, 'a.txt')]).toEqual([0, 'one\n2\n3\n4\nfive\n'])
  })

  test('never lands files that control other programs', async () => {
    const cwd = committed({ '.vscode/settings.json': '{}\n', 'a.txt': 'a\n' })
    const ended = await runOnView(cwd, [
      cmd(
        'echo x > .vscode/settings.json; rm -rf .vscode; echo x > a.txt; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit',
      ),
    ])
    expect(read(cwd, '.vscode/settings.json')).toBe('{}\n')
    expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false)
    expect(read(cwd, 'a.txt')).toBe('x\n')
    expect(ended.code).toBe(0)
  })

  test('that is not stored lands its changes too', async () => {
    const [cwd, home, temp] = [repository({ 'a.txt': 'a\n' }), tempDir(), tempDir()]
    const ended = await runOnView(cwd, [cmd('echo x > a.txt')], { args: ['--ephemeral'], home, env: { TMPDIR: temp } })
    expect([ended.code, read(cwd, 'a.txt'), readdirSync(temp)]).toEqual([0, 'x\n', []])
    expect(existsSync(join(home, '.local/state/portcullis/sessions'))).toBe(false)
  })

  test('leaves out what the run makes where the final message goes', async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const ended = await runOnView(cwd, [cmd('echo theirs > entry.md; echo x > a.txt')], {
      args: ['-o', join(cwd, 'entry.md')],
    })
    expect([ended.code, read(cwd, 'entry.md'), read(cwd, 'a.txt')]).toEqual([0, 'done', 'x\n'])
    expect(reportOf(ended)?.left_out).toEqual([
      { path: join(cwd, 'entry.md'), why: 'the final message is written there' },
    ])
  })

  test('can also be set in the configuration', async () => {
    const cwd = repository({ 'a.txt': 'a\n' })
    const ended = await exec([cmd('echo x > a.txt'), [say('done')]], ['--json', '-c', 'view="copy"', 'x'], {
      cwd,
    })
    expect(reportOf(ended)).toMatchObject({ strategy: 'copy', outcome: 'landed' })
  })

  test('is needed for options about landing', async () => {
    const without = ['-s', 'danger-full-access', '--land', 'never', 'x']
    const ended = await exec([], without, { cwd: repository({}) })
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('leave out --view and --land')])
  })

  test('does not report that nothing changed if it made a directory', async () => {
    const ended = await exec([cmd('mkdir d'), [say('done')]], ['x'], { cwd: repository({}) })
    expect(ended.stderr).toContain('done, only directories changed')
  })

  test('reports its result on the terminal', async () => {
    const cwd = repository({ '.gitignore': 'out/\n' })
    const ended = await exec([cmd('echo x > a.txt; mkdir out; echo y > out/y'), [say('done')]], ['x'], { cwd })
    expect(ended.stderr).toMatch(
      /transaction \((?:copy|reflink)\): all changes are in the workspace; to revert them, run "agent undo \S+"/,
    )
    expect(ended.stderr).toContain('files that git ignores (landed too): 1')
  })
})
