import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

const identity = ['-c', 'user.name=n', '-c', 'user.email=e@localhost']
const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-C', cwd, ...identity, ...words], { encoding: 'utf8' }).trim()

const before = 'function total(list) {\n  let sum = 0\n  for (const each of list) sum += each\n  return sum\n}\n'
const after =
  'function total(list) {\n  let sum = 0\n  for (let at = 0; at <= list.length; at++) sum += list[at]\n  return sum\n}\n'

/** A repository with one commit, and a change that is not committed. */
function changed(): string {
  const cwd = repository({ 'total.js': before, 'other.js': 'const a = 1\n' })
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'first')
  writeFileSync(join(cwd, 'total.js'), after)
  return cwd
}

const finding = (fields: object = {}): object => ({
  path: 'total.js',
  start_line: 3,
  end_line: 3,
  severity: 'high',
  category: 'bug',
  confidence: 0.9,
  title: 'The loop reads one element too many',
  body: 'At `list.length` there is nothing: the sum is **NaN**.',
  suggestion: [
    '*** Begin Patch',
    '*** Update File: total.js',
    '@@',
    '-  for (let at = 0; at <= list.length; at++) sum += list[at]',
    '+  for (let at = 0; at < list.length; at++) sum += list[at]',
    '*** End Patch',
  ].join('\n'),
  ...fields,
})

const report = (...findings: readonly object[]): Reply => [
  call('report_findings', { summary: 'One thing is wrong.', findings }),
]

const found = ({ events }: Exec): readonly Record<string, unknown>[] =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'review_finding' ? [{ ...event.item }] : [],
  )

const prompt = ({ requests }: Exec): string => JSON.stringify(requests[0]?.body)

describe.skipIf(needsBubblewrap())('agent exec review', () => {
  test('shows the model no untracked file that holds a secret', async () => {
    const cwd = changed()
    const secret = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_')
    for (const name of ['.env', 'notes.txt', 'plain.txt'])
      writeFileSync(join(cwd, name), name === 'plain.txt' ? 'plain text\n' : `TOKEN=${secret}\n`)
    const ended = await exec(() => report(), ['review', '--uncommitted', '--json'], { cwd })
    expect(ended.code).toBe(0)
    expect(prompt(ended)).toContain('plain text')
    expect(JSON.stringify(ended.requests)).not.toContain(secret)
  })

  test('adds what makes tests weaker, in every report, also if the model reports nothing', async () => {
    const cwd = changed()
    writeFileSync(join(cwd, 'a.test.js'), "test('a', () => {})\n")
    git(cwd, 'add', '.')
    git(cwd, 'commit', '-qm', 'second')
    writeFileSync(join(cwd, 'a.test.js'), "test.skip('a', () => {})\n")
    const sarif = join(tempDir(), 'r.sarif')
    const ended = await exec([report()], ['review', '--json', '--fail-on', 'medium', '--report', sarif], { cwd })
    const title = 'A test is skipped, expected to fail, or run alone'
    expect(found(ended)).toMatchObject([{ path: 'a.test.js', start_line: 1, category: 'tests', title }])
    expect(readFileSync(sarif, 'utf8')).toContain(title)
    expect(ended.code).toBe(1)
  })

  test('shows the model uncommitted changes, and reports its findings with lines', async () => {
    const cwd = changed()
    writeFileSync(join(cwd, 'new file.js'), 'const b = 2\n')
    const ended = await exec([report(finding())], ['review', '--json'], { cwd })
    expect(ended.stderr).not.toContain('left out')
    expect(ended.code).toBe(0)
    expect(prompt(ended)).toContain('     3 +  for (let at = 0; at <= list.length; at++)')
    expect(prompt(ended)).toContain('### new file: new file.js')
    expect(found(ended)).toMatchObject([
      {
        path: 'total.js',
        start_line: 3,
        end_line: 3,
        severity: 'high',
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        replacement: {
          start_line: 3,
          end_line: 3,
          text: '  for (let at = 0; at < list.length; at++) sum += list[at]\n',
        },
      },
    ])
    expect(ended.events.at(-1)).toMatchObject({
      type: 'turn.completed',
      result: 'done',
      review: { of: 'the uncommitted changes', files: 2, findings: { critical: 0, high: 1, medium: 0, low: 0 } },
    })
  })

  test('prints the findings, with a suggestion that apply-patch accepts', async () => {
    const ended = await exec([report(finding())], ['review', '-q'], { cwd: changed() })
    expect(ended.stdout).toMatch(/^1 finding in the uncommitted changes, 1 file \(1 high\)\.\n\nOne thing is wrong\./)
    expect(ended.stdout).toContain(
      '## [high] The loop reads one element too many\n\n`total.js:3` · bug · confidence 0.9',
    )
    expect(ended.stdout).toContain('*** Update File: total.js')
  })

  test('tells a model that ends without its findings to deliver them', async () => {
    const ended = await exec([[say('All is well.')], report()], ['review', '--json'], { cwd: changed() })
    const [told] = JSON.stringify(ended.requests[1]?.body).match(/You ended without delivering[^"]*/) ?? []
    expect([ended.code, told]).toEqual([
      0,
      'You ended without delivering the result. Deliver it by calling report_findings.',
    ])
  })

  test('has no tool that writes, and a read-only sandbox', async () => {
    const cwd = changed()
    const replies: readonly Reply[] = [
      [call('exec_command', { cmd: 'echo x > total.js; echo y > made' })],
      [call('apply_patch', { input: '*** Begin Patch\n*** Add File: made\n+x\n*** End Patch' })],
      [call('write_file', { path: 'made', content: 'x' })],
      report(),
    ]
    const words = ['review', '--json', '-c', 'sandbox_mode=workspace-write', '--ask-for-approval', 'on-request']
    const ended = await exec(replies, words, { cwd })
    expect([ended.code, existsSync(join(cwd, 'made'))]).toEqual([0, false])
    expect(readFileSync(join(cwd, 'total.js'), 'utf8')).toBe(after)
    expect(ended.events[0]).toMatchObject({ config: { sandbox_mode: 'read-only' } })
    const offered = (ended.requests[0]?.body as { tools: readonly { name?: string }[] }).tools.map(({ name }) => name)
    expect(offered).toContain('report_findings')
    expect(offered.filter((name = '') => /patch|write_file|edit|repl|memory|agent|task/.test(name))).toEqual([])
  })

  test.each([
    ['--base', 'main', 'the changes since main'],
    ['--commit', 'HEAD', 'the commit HEAD'],
  ])('takes %s', async (flag, name, of) => {
    const cwd = changed()
    git(cwd, 'branch', '-M', 'main')
    git(cwd, 'switch', '-qc', 'topic')
    git(cwd, 'commit', '-qam', 'second')
    const ended = await exec([report(finding())], ['review', flag, name, '--json'], { cwd })
    expect(ended.events.at(-1)).toMatchObject({ review: { of, files: 1, findings: { high: 1 } } })
    expect(found(ended)).toMatchObject([{ path: 'total.js', start_line: 3, replacement: { start_line: 3 } }])
  })

  test.each([
    ['SIGTERM', 143, 'terminated'],
    ['SIGINT', 130, 'interrupted'],
  ] as const)('that waits for git is ended by %s', async (name, code, reason) => {
    const cwd = changed()
    // git waits until somebody writes to the pipe. This process learns when git has opened it, because only then can it open it too.
    const pipe = join(cwd, '.gitignore')
    execFileSync('mkfifo', [pipe])
    const ended = await exec([], ['review', '--json'], {
      cwd,
      onStart: (child) => {
        void open(pipe, 'w').then(async (held) => {
          child.kill(name)
          await once(child, 'close')
          await held.close()
        })
        // If git never opens it, this process must not wait for that.
        child.once('close', () => void open(pipe, 'r+').then((held) => held.close()))
      },
    })
    expect([ended.code, ended.signal]).toEqual([code, null])
    expect(ended.events.at(-1)).toMatchObject({ reason, exit_code: code })
  })

  test('uses piped input as the diff, and the argument as the focus of the review', async () => {
    const cwd = changed()
    git(cwd, 'add', 'total.js')
    const stdin = git(cwd, 'diff', '--cached')
    const ended = await exec([report(finding())], ['review', '--json', 'Look at loops.'], { cwd, stdin: `${stdin}\n` })
    expect(prompt(ended)).toContain('Review the diff.\\n\\nLook at loops.')
    expect(found(ended)).toHaveLength(1)
    const none = await exec([report()], ['review'], { cwd, stdin: 'hello' })
    expect([none.code, none.requests.length]).toEqual([2, 0])
    expect(none.stderr).toContain('Standard input is not a unified diff')
  })

  test('tells the model once about a finding outside the change, and then leaves it out', async () => {
    const stray = finding({ path: 'other.js', start_line: 1, end_line: 1, suggestion: null, title: 'Elsewhere' })
    const ended = await exec([report(stray, finding()), report(stray, finding())], ['review', '--json'], {
      cwd: changed(),
    })
    expect(ended.requests).toHaveLength(2)
    expect(JSON.stringify(ended.requests[1]?.body)).toContain('other.js:1 is not a line of the change')
    expect(found(ended)).toHaveLength(1)
    expect(ended.events.at(-1)).toMatchObject({ review: { outside_change: 1 } })
    expect(ended.stderr).toContain('A finding was left out because other.js:1 is not a line of the change')
  })

  test('leaves out a suggestion that does not apply, and says so', async () => {
    const patch = '*** Begin Patch\n*** Update File: total.js\n@@\n-no such line\n+x\n*** End Patch'
    const ended = await exec([report(finding({ suggestion: patch }))], ['review', '--json'], { cwd: changed() })
    expect(found(ended)[0]).not.toHaveProperty('suggestion')
    expect(ended.events.at(-1)).toMatchObject({ review: { suggestions_dropped: 1, findings: { high: 1 } } })
    expect(ended.stderr).toContain('The suggestion for total.js:3 was left out: it does not apply to the file')
  })

  test('asks the model to correct a report that does not match the schema', async () => {
    const ended = await exec([report(finding({ severity: 'awful' })), report(finding())], ['review', '--json'], {
      cwd: changed(),
    })
    expect(JSON.stringify(ended.requests[1]?.body)).toContain('findings.0.severity')
    expect(found(ended)).toHaveLength(1)
  })

  test('asks for the report if the model only sends text', async () => {
    const ended = await exec([[say('Looks fine to me.')], report()], ['review', '-q'], { cwd: changed() })
    expect([ended.code, ended.requests.length]).toEqual([0, 2])
    expect(ended.stdout).toMatch(/^No finding in the uncommitted changes, 1 file\./)
  })

  test.each([
    ['high', 1],
    ['critical', 0],
  ])('--fail-on %s ends with %i where the worst is high', async (severity, code) => {
    const words = ['review', '--json', '--fail-on', severity]
    const ended = await exec([report(finding(), finding({ severity: 'low' }))], words, { cwd: changed() })
    expect(ended.code).toBe(code)
    if (code === 1) expect(ended.stderr).toContain('The review has 1 finding of severity high or worse')
  })

  test.each(['known.json', 'known.sarif', 'codequality.json'])(
    'a second run does not tell again what %s has, however it is worded and wherever the line is by now',
    async (name) => {
      const [cwd, known] = [changed(), join(tempDir(), name)]
      await exec([report(finding())], ['review', '--report', known], { cwd })
      writeFileSync(join(cwd, 'total.js'), `// Sums up.\n\n${after}`)
      const moved = { start_line: 5, end_line: 5, suggestion: null, body: 'Off by one.' }
      const again = [
        finding({ ...moved, title: 'Loop reads an element beyond the end' }),
        finding({ start_line: 1, end_line: 1, suggestion: null, severity: 'low', title: 'A comment' }),
      ]
      const words = ['review', '--json', '--known', known, '--fail-on', 'high']
      const ended = await exec([report(...again)], words, { cwd })
      expect(ended.code).toBe(0)
      expect(found(ended).map(({ known: isKnown }) => isKnown)).toEqual([true, undefined])
      expect(ended.events.at(-1)).toMatchObject({ review: { known: 1, findings: { high: 0, low: 1 } } })
      expect(prompt(ended)).toContain('The loop reads one element too many')
    },
  )

  test('is in reports of every format', async () => {
    const [cwd, out] = [changed(), tempDir()]
    const names = ['r.html', 'r.md', 'r.json', 'junit.xml', 'r.sarif', 'codequality.json']
    const files = names.map((name) => join(out, name))
    const ended = await exec([report(finding())], ['review', ...files.flatMap((file) => ['--report', file])], { cwd })
    expect(ended.code).toBe(0)
    const [html = '', md = '', json = '', xml = '', sarif = '', quality = ''] = files.map((file) =>
      readFileSync(file, 'utf8'),
    )
    expect(html).toContain('high: The loop reads one element too many')
    expect(md).toContain('The loop reads one element too many')
    expect(JSON.parse(json)).toMatchObject({ findings: [{ ruleId: 'review/bug', path: 'total.js', startLine: 3 }] })
    expect(xml).toContain('<testcase classname="agent exec" name="review: total.js:3 The loop')
    expect(JSON.parse(sarif).runs[0].results).toMatchObject([
      {
        ruleId: 'review/bug',
        level: 'error',
        baselineState: 'new',
        rank: 90,
        locations: [{ physicalLocation: { artifactLocation: { uri: 'total.js' }, region: { startLine: 3 } } }],
        fixes: [{ artifactChanges: [{ replacements: [{ deletedRegion: { startLine: 3, endLine: 4 } }] }] }],
      },
    ])
    expect(JSON.parse(quality)).toMatchObject([
      { check_name: 'review/bug', categories: ['Bug Risk'], severity: 'major' },
    ])
  })

  test.each([
    [['--base', 'nowhere'], 'this repository has no such branch or commit'],
    [['--commit', 'nowhere'], 'this repository has no such commit'],
    [['--uncommitted'], 'There is nothing to review'],
    [['-s', 'workspace-write'], "-s can't be used with it"],
    [['--view', 'copy'], "--view can't be used with it"],
    [['--externally-sandboxed'], "--externally-sandboxed can't be used with it"],
    [['--base', 'main', '--uncommitted'], 'cannot be used with option'],
    [['--known', 'nowhere.json'], "can't be read"],
  ])('%j is refused before a model is asked', async (words, why) => {
    const cwd = changed()
    git(cwd, 'commit', '-qam', 'second')
    const ended = await exec([report()], ['review', ...words], { cwd })
    expect([ended.code, ended.requests.length]).toEqual([2, 0])
    expect(ended.stderr).toContain(why)
  })
})
