import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

type Step = { readonly cmd: string } | { readonly patch: string } | { readonly js: string }

/**
 * Performs a run of these steps twice: with `--json`, for its events and the counts in the terminal event, and without it in a copy of the directory,
 * for the summary's line about changes.
 */
async function counted(
  cwd: string,
  steps: readonly Step[],
  ...options: readonly string[]
): Promise<{ readonly line: string; readonly changes: unknown; readonly ended: Exec }> {
  const replies = [
    ...steps.map((step) => [
      'cmd' in step
        ? call('exec_command', { cmd: step.cmd })
        : 'js' in step
          ? call('js_repl', { code: step.js })
          : call('apply_patch', { input: `*** Begin Patch\n${step.patch}\n*** End Patch` }),
    ]),
    [say('done')],
  ]
  const [json, plain] = [
    ['--json', ...options, 'x'],
    ['-v', ...options, 'x'],
  ]
  const copy = tempDir()
  execFileSync('cp', ['-a', `${cwd}/.`, copy])
  const ended = await exec(replies, json, { cwd })
  const { stderr } = await exec(replies, plain, { cwd: copy })
  const line = stderr.split('\n').find((each) => each.startsWith('  files changed: ')) ?? ''
  const last = ended.events.at(-1)
  expect(last?.type).toBe('turn.completed')
  return {
    line: line.slice('  files changed: '.length),
    changes: last?.type === 'turn.completed' ? last.changes : undefined,
    ended,
  }
}

describe.skipIf(needsBubblewrap())('the files that a run changed', () => {
  test('include files that a command created, wrote, removed, or gave another mode', async () => {
    const cwd = repository({ a: 'a', b: 'b', c: 'c', d: 'd' })
    const { line, changes } = await counted(cwd, [
      { cmd: 'echo x >> a; rm b; chmod +x c; mkdir -p n && echo n > n/new' },
    ])
    expect(changes).toEqual({ files: 4, by_commands: 4 })
    expect(line.split(', ').toSorted()).toEqual([
      'a (update by a command)',
      'b (delete by a command)',
      'c (update by a command)',
      'n/new (add by a command)',
    ])
  })

  test('are empty if commands only read, or removed what they created', async () => {
    const cwd = repository({ a: 'a' })
    expect(await counted(cwd, [{ cmd: 'cat a; ls' }])).toMatchObject({
      line: 'none',
      changes: { files: 0, by_commands: 0 },
    })
    const passing = await counted(cwd, [{ cmd: 'echo x > passing' }, { cmd: 'rm passing' }])
    expect(passing.changes).toEqual({ files: 0, by_commands: 0 })
  })

  test('leave out files that git ignores, also those that git ignores from now on', async () => {
    const cwd = repository({ '.gitignore': 'out/\n*.log\n', 'out/old': '1' })
    const cmd = 'echo 2 > out/old; echo x > out/new; echo x > a.log; echo x > seen; git add seen'
    const { line, changes } = await counted(cwd, [{ cmd }])
    expect({ line, changes }).toEqual({ line: 'seen (add by a command)', changes: { files: 1, by_commands: 1 } })
    expect((await counted(repository({ a: 'a' }), [{ cmd: 'echo "*" > .gitignore; echo x > hidden' }])).line).toBe(
      'none',
    )
  })

  test('count a file once if both a patch and a command changed it, in any order', async () => {
    const cwd = repository({ a: 'a\n', b: 'b\n' })
    const { line, changes } = await counted(cwd, [
      { patch: '*** Update File: a\n@@\n-a\n+A' },
      { cmd: 'echo x >> a; echo x > made' },
      { patch: '*** Update File: made\n@@\n-x\n+y' },
      { patch: '*** Add File: gone\n+x' },
      { cmd: 'rm gone; echo z >> b' },
    ])
    expect(changes).toEqual({ files: 3, by_commands: 1 })
    expect(line.split(', ').toSorted()).toEqual(['a (update)', 'b (update by a command)', 'made (add)'])
  })

  test('of patches are counted as before', async () => {
    const { line, changes } = await counted(repository(), [{ patch: '*** Add File: n\n+x' }])
    expect({ line, changes }).toEqual({ line: 'n (add)', changes: { files: 1, by_commands: 0 } })
  })

  test('are counted whatever characters their names contain; names that are not UTF-8 do not land', async () => {
    const cmd = `echo > "$(printf 'bad\\377')"; echo > "$(printf 'two\\nlines')"; echo > '"q"'; echo > ' :(top)x'`
    const { changes, line, ended } = await counted(repository({ '.gitignore': 'none' }), [{ cmd }])
    expect(changes).toEqual({ files: 3, by_commands: 3 })
    expect(line).toContain('two⏎lines (add by a command)')
    expect(ended.stderr).toContain('left out: ')
  })

  test('are counted outside any repository, and in an ephemeral run', async () => {
    const words = ['--skip-git-repo-check', '--ephemeral']
    const { changes } = await counted(tempDir({ a: 'a' }), [{ cmd: 'echo b > b; rm a' }], ...words)
    expect(changes).toEqual({ files: 2, by_commands: 2 })
  })

  test('are counted for a JavaScript session, and for a command that continued after its call', async () => {
    const js = await counted(repository(), [{ js: `(await import('node:fs')).writeFileSync('js', '1')` }])
    expect(js.line).toBe('js (add by a command)')
    const cwd = repository()
    const replies = [
      [call('exec_command', { cmd: 'sleep 0.5; echo x > late; sleep 600', yield_time_ms: 250 })],
      [call('exec_command', { cmd: 'while [ ! -e late ]; do sleep 0.05; done' })],
      [say('done')],
    ]
    const { events } = await exec(replies, ['--json', 'x'], { cwd })
    expect(events.at(-1)).toMatchObject({ changes: { files: 1, by_commands: 1 } })
  })
})

/**
 * Performs a run of these steps twice, as `counted` does. Returns the changed files that other programs may run later, each with its kind and the
 * program that may run it, and the summary's line about these files.
 */
async function later(
  cwd: string,
  steps: readonly Step[],
): Promise<{ readonly told: unknown; readonly line: string | undefined }> {
  const replies = [
    ...steps.map((step) => [
      'cmd' in step
        ? call('exec_command', { cmd: step.cmd })
        : call('apply_patch', { input: `*** Begin Patch\n${'patch' in step ? step.patch : ''}\n*** End Patch` }),
    ]),
    [say('done')],
  ]
  const copy = tempDir()
  execFileSync('cp', ['-a', `${cwd}/.`, copy])
  const { events } = await exec(replies, ['--json', 'x'], { cwd })
  const { stderr } = await exec(replies, ['x'], { cwd: copy })
  const line = stderr.split('\n').find((each) => each.includes('that other programs may run later'))
  const last = events.at(-1)
  const told = last?.type === 'turn.completed' ? last.changes?.runs_later : undefined
  return {
    told: told?.map(({ path, kind, program }) => [path.slice(cwd.length + 1), kind, program]),
    line: line?.trim(),
  }
}

describe.skipIf(needsBubblewrap())('what a run changed that runs later', () => {
  const manifest = { name: 'n', scripts: { test: 'true' }, dependencies: { a: '1.0.0' } }
  const json = (changes: object): string => JSON.stringify({ ...manifest, ...changes })

  test('is reported at its end, whether a patch or a command changed it, even if git ignores it', async () => {
    const cwd = repository({ '.gitignore': '.npmrc\nout/\n', Makefile: 'all:\n\ttrue\n', 'a.js': '1\n' })
    const { told, line } = await later(cwd, [
      { patch: '*** Update File: Makefile\n@@\n all:\n-\ttrue\n+\tfalse' },
      { patch: '*** Add File: .github/workflows/ci.yml\n+on: push' },
      {
        cmd: 'echo x > .npmrc; mkdir -p out pkg/tests; echo x > out/Makefile; echo x > pkg/tests/conftest.py; echo 2 > a.js',
      },
    ])
    expect(told).toEqual([
      ['.github/workflows/ci.yml', 'add', 'GitHub Actions'],
      ['.npmrc', 'add', 'npm'],
      ['Makefile', 'update', 'make'],
      ['pkg/tests/conftest.py', 'add', 'pytest'],
    ])
    expect(line).toBe(
      'changed files that other programs may run later: .github/workflows/ci.yml (GitHub Actions), .npmrc (npm), Makefile (make), pkg/tests/conftest.py (pytest)',
    )
  })

  test('is empty if only files that nothing runs have changed', async () => {
    const cwd = repository({ 'package.json': json({}), a: 'a' })
    const changed = json({ version: '2.0.0', dependencies: { a: '^2.0.0', b: '*' }, keywords: ['x'] })
    expect(await later(cwd, [{ cmd: `echo '${changed}' > package.json; echo b > a` }])).toEqual({
      told: undefined,
      line: undefined,
    })
    const patch = `*** Add File: package.json\n+${json({ description: 'x' })}`
    expect((await later(repository({ 'package.json': json({}) }), [{ patch }])).told).toBeUndefined()
  })

  test.each([
    ['scripts', { scripts: { test: 'true', postinstall: 'x' } }],
    ['programs', { bin: './x.js' }],
    ['a dependency from elsewhere', { dependencies: { a: 'git+https://example.com/a' } }],
    ['a dependency in the tree', { dependencies: { a: 'file:./a' } }],
    ['hooks', { 'simple-git-hooks': { 'pre-commit': 'x' } }],
    ['a package manager', { packageManager: 'yarn@https://example.com/y.js' }],
  ])('is a package.json with other %s', async (_, changes) => {
    const cwd = repository({ 'p/package.json': json({}) })
    const { told } = await later(cwd, [{ cmd: `echo '${json(changes)}' > p/package.json` }])
    expect(told).toEqual([['p/package.json', 'update', 'npm']])
  })
})
