import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const token = `ghp_${'a1B2c3D4'.repeat(5)}`
const story: readonly Reply[] = [
  [say('Looking.'), call('exec_command', { cmd: `echo ${token}; echo '<script>alert(1)</script>'; exit 3` })],
  [call('apply_patch', { input: '*** Begin Patch\n*** Add File: src/new.js\n+const a = 1\n*** End Patch' })],
  [
    say(
      'Made **src/new.js**, see [here](javascript:alert(1)) and [there](https://example.com/x). ![p](https://example.com/p.png)',
    ),
  ],
]

describe.skipIf(needsBubblewrap())('agent exec --report', () => {
  test('writes a page, Markdown and JSON of the run, readable only by their owner', async () => {
    const [cwd, out] = [repository(), tempDir()]
    const files = ['page.html', 'text.md', 'data.json'].map((name) => join(out, name))
    const ended = await exec(story, [...files.flatMap((file) => ['--report', file]), 'make "it" <b>good</b>'], { cwd })
    expect(ended.code).toBe(0)
    const [page = '', text = '', data = ''] = files.map((file) => readFileSync(file, 'utf8'))
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600])
    expect(page).toMatch(/^<!doctype html>\s*<html lang="en">\s*<head>\s*<meta http-equiv="Content-Security-Policy"/)
    expect(page).toContain('make &quot;it&quot; &lt;b&gt;good&lt;/b&gt;')
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).toContain('<a href="https://example.com/x"')
    expect(page).not.toMatch(/<a href="javascript|<img|p\.png"/)
    expect(page).toContain('id="step-2"')
    expect([page, text, data].filter((each) => each.includes(token))).toEqual([])
    expect(text).toMatch(/^## Done · exit code 0/)
    expect(text.replace(/^(`{3,})[^]*?^\1$/gm, '')).not.toMatch(/<|!\[|\]\(/)
    expect(JSON.parse(data)).toMatchObject({
      version: 1,
      totals: { commands: 1, failedCommands: 1, refused: 0 },
      files: [{ path: 'src/new.js', kind: 'add', added: 1, removed: 0 }],
      runs: [{ prompt: 'make "it" <b>good</b>', end: { result: 'done', exitCode: 0 } }],
    })
  })

  test('is written for an ephemeral run, even if it fails', async () => {
    const page = join(tempDir(), 'page.html')
    const ended = await exec([[say('never')]], ['--ephemeral', '--fail-on-no-change', '--report', page, 'x'], {
      cwd: repository(),
    })
    expect(ended.code).toBe(1)
    expect(readFileSync(page, 'utf8')).toContain('--fail-on-no-change')
  })

  test('that can no longer be written at the end makes the run fail, and the others are written all the same', async () => {
    const [cwd, out] = [repository({ 'reports/x': '' }), tempDir()]
    const kept = join(out, 'kept.md')
    const replies = [[call('exec_command', { cmd: 'rm -r reports' })], [say('done')]]
    const reports = ['--report', 'reports/gone.html', '--report', kept]
    const ended = await exec(replies, ['--json', '-s', 'danger-full-access', ...reports, 'x'], { cwd })
    const why = expect.stringContaining("gone.html: the report can't be written there") as string
    expect([ended.code, ended.stderr]).toEqual([1, why])
    expect(readFileSync(kept, 'utf8')).toContain('done')
    const last = ended.events.filter(({ type }) => /^turn\.(?:completed|failed)$/.test(type))
    expect(last).toMatchObject([{ type: 'turn.failed', reason: 'failed', exit_code: 1, error: { message: why } }])
    expect(ended.events.at(-1)).toBe(last[0])
  })

  test('is what agent report says later', async () => {
    const [cwd, home, out] = [repository(), tempDir(), tempDir()]
    const file = join(out, 'data.json')
    for (const words of [['x'], ['--fail-on-denied', '--ask-for-approval', 'untrusted', 'x']]) {
      const { events } = await exec(story, ['--json', '--report', file, ...words], { cwd, home })
      const id = events[0]?.type === 'thread.started' ? events[0].thread_id : expect.fail('no first event')
      const later = await agent(['report', id, '--format', 'json'], { cwd, home })
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(later.stdout))
    }
  })

  test('is refused before anything runs if the name shows no format, or the file cannot be written', async () => {
    const cwd = repository()
    for (const [file, words] of [
      ['report', "its name doesn't show which format to write"],
      [join(cwd, 'none', 'report.html'), "can't be written there"],
    ] as const) {
      const ended = await exec([[say('never')]], ['--report', file, 'x'], { cwd })
      expect([ended.code, ended.requests.length]).toEqual([2, 0])
      expect(ended.stderr).toContain(words)
    }
  })
})

describe.skipIf(needsBubblewrap())("GitHub's summary of the step", () => {
  test('is appended automatically if the file exists, but not with --summary off', async () => {
    const summary = join(tempDir(), 'summary.md')
    writeFileSync(summary, '# earlier\n')
    const env = { GITHUB_STEP_SUMMARY: summary }
    await exec(story, ['--summary', 'off', 'x'], { cwd: repository(), env })
    expect(readFileSync(summary, 'utf8')).toBe('# earlier\n')
    await exec(story, ['x'], { cwd: repository(), env })
    const text = readFileSync(summary, 'utf8')
    expect(text).toMatch(/^# earlier\n## Done · exit code 0/)
    // Text from untrusted sources is in code fences, or escaped.
    expect(text.replace(/^(`{3,})[^]*?^\1$/gm, '')).not.toMatch(/<|!\[|\]\(/)
  })
})

describe.skipIf(needsBubblewrap())('a summary of the step that can no longer be written', () => {
  test('makes the run fail, and is named', async () => {
    const cwd = repository({ 'step/summary.md': '' })
    const replies = [[call('exec_command', { cmd: 'rm -r step' })], [say('done')]]
    const env = { GITHUB_STEP_SUMMARY: join(cwd, 'step/summary.md') }
    const ended = await exec(replies, ['--json', '-s', 'danger-full-access', 'x'], { cwd, env })
    const message = expect.stringMatching(
      /step\/summary\.md: the step's summary can't be written: .*--summary off/,
    ) as string
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', exit_code: 1, error: { message } })
    expect(ended.code).toBe(1)
  })
})

describe.skipIf(needsBubblewrap())('agent report', () => {
  test('reads a session by its id or its folder, and a file of events', async () => {
    const [cwd, home] = [repository(), tempDir()]
    const ended = await exec(story, ['--json', 'x'], { cwd, home })
    const [first] = ended.events
    const { thread_id: id, config } = first?.type === 'thread.started' ? first : expect.fail('no first event')
    const events = join(tempDir({ 'events.jsonl': ended.stdout }), 'events.jsonl')
    for (const source of [id.slice(-12), config.session_dir, events]) {
      const { code, stdout } = await agent(['report', source, '--format', 'json'], { cwd, home })
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ threadId: id, totals: { commands: 1, failedCommands: 1 } })
    }
    const page = await agent(['report', id], { cwd, home })
    expect(page.stdout).toContain('<title>Done: x</title>')
  })

  test('reads the rollout of a session whose events are lost', async () => {
    const [cwd, home] = [repository(), tempDir()]
    const ended = await exec(story, ['--json', 'do it'], { cwd, home })
    const [first] = ended.events
    const { thread_id: id, config } = first?.type === 'thread.started' ? first : expect.fail('no first event')
    rmSync(join(config.session_dir, 'events.jsonl'))
    const { stdout, stderr } = await agent(['report', id, '--format', 'json'], { cwd, home })
    expect(JSON.parse(stdout), stderr).toMatchObject({
      threadId: id,
      runs: [{ prompt: 'do it', end: { result: 'done', exitCode: 0 } }],
    })
    const page = await agent(['report', id], { cwd, home })
    for (const text of ['Looking.', 'exit 3', 'src/new.js']) expect(page.stdout).toContain(text)
  })

  test('explains what is wrong with a source without a session', async () => {
    const cwd = tempDir({ 'torn.jsonl': '{"type":"thr', 'folder/other': '' })
    for (const [source, words] of [
      ['torn.jsonl', 'contains no run'],
      ['folder', 'contains no session'],
      ['0123456789ab', "There is no session '0123456789ab'"],
    ] as const) {
      const { code, stderr } = await agent(['report', source], { cwd, home: tempDir() })
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
    }
  })
})

describe.skipIf(needsBubblewrap())('what to do next', () => {
  const landing = async (land: string): Promise<string> => {
    const page = join(tempDir(), 'page.md')
    const ended = await exec(story, ['--land', land, '--report', page, 'x'], { cwd: repository() })
    expect(ended.code).toBe(0)
    return readFileSync(page, 'utf8')
  }

  test('suggests undo for a transaction that landed, and to inspect, land or discard one that did not', async () => {
    const landed = await landing('on-success')
    expect(landed).toMatch(/\nagent undo [0-9a-f]{12}\n/)
    expect(landed).not.toContain('agent apply')
    const kept = await landing('never')
    expect(kept).toMatch(/\nagent changes [0-9a-f]{12} --diff\n/)
    expect(kept).toMatch(/\nagent apply [0-9a-f]{12}\n/)
    expect(kept).toMatch(/\nagent discard [0-9a-f]{12}\n/)
    expect(kept).not.toContain('agent undo')
  })

  test('suggests to replay the session, with a command that works as printed', async () => {
    const [cwd, home] = [repository(), tempDir()]
    const page = join(tempDir(), 'page.md')
    await exec([[call('exec_command', { cmd: 'echo one' })], [say('Done.')]], ['--report', page, 'x'], { cwd, home })
    const words = /\nagent (replay .+)\n/.exec(readFileSync(page, 'utf8'))?.[1]?.split(' ') ?? []
    expect(words).toContain('--keep-going')
    const replayed = await agent(words, { cwd, home })
    expect([replayed.code, replayed.stdout], replayed.stderr).toEqual([0, 'Done.\n'])
  })
})

test.skipIf(needsBubblewrap())('requests that were repeated are in the timeline, and want attention', async () => {
  const [page, cwd] = [join(tempDir(), 'page.md'), repository()]
  const busy = { status: 503, headers: { 'retry-after-ms': '1' }, body: { error: { message: 'too busy' } } }
  const ended = await exec([busy, busy, [say('ok')]], ['--report', page, 'x'], { cwd })
  expect(ended.code).toBe(0)
  const text = readFileSync(page, 'utf8')
  expect(text).toContain('**Requests to the provider were repeated 2 times** (step 1)')
  expect(text).toMatch(/\*\*1\. retry\*\* Reconnecting\\\.{0,3}.*too busy|\*\*1\. retry\*\* Reconnecting.*too busy/)
})
