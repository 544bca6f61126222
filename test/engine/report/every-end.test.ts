import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { faultsInCodeQuality, faultsInJunit, faultsInSarif } from '../../support/report-schemas.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

type End = {
  readonly replies: readonly Reply[]
  readonly words?: readonly string[]
  /** A signal that is sent once the run has printed something. */
  readonly signal?: NodeJS.Signals
  readonly code: number
  readonly reason: string
  readonly result: string
  /** The expected heading of the reports that are written for people. */
  readonly heading: string
}

const patch = '*** Begin Patch\n*** Add File: b\n+b\n*** End Patch'
const changing: readonly Reply[] = [[call('apply_patch', { input: patch })], [say('Made b.')]]
const refused: readonly Reply[] = [[call('exec_command', { cmd: 'rm -rf /' })], [say('x')]]
const report: readonly Reply[] = [
  [
    call('report_findings', {
      summary: 'x',
      findings: [
        {
          ...{ path: 'a', start_line: 1, end_line: 1, severity: 'high', category: 'bug', confidence: 1 },
          ...{ title: 'No ]]>"<b>&\u0007', body: 'No\n\u202e.', suggestion: null },
        },
      ],
    }),
  ],
]

const ends: Readonly<Record<string, End>> = {
  'work that is done': { replies: changing, code: 0, reason: 'done', result: 'done', heading: 'Done' },
  'nothing to do': {
    replies: [[say('Nothing.')]],
    ...{ code: 0, reason: 'done', result: 'no-change', heading: 'Done, and nothing changed' },
  },
  'nothing to do, where that is a failure': {
    replies: [[say('Nothing.')]],
    words: ['--fail-on-no-change'],
    ...{ code: 1, reason: 'failed', result: 'failed', heading: 'Failed' },
  },
  'a schema that is not met': {
    replies: [1, 2, 3, 4].map(() => [say('no JSON')]),
    words: ['--output-schema', 'schema.json'],
    ...{ code: 1, reason: 'failed', result: 'failed', heading: 'Failed' },
  },
  'a check that fails': {
    replies: [...changing, [say('x')]],
    words: ['--verify', 'false', '--verify-attempts', '1'],
    ...{ code: 1, reason: 'failed', result: 'failed', heading: 'Failed' },
  },
  'a review that finds something, where that is a failure': {
    replies: report,
    words: ['review', '--fail-on', 'high'],
    ...{ code: 1, reason: 'failed', result: 'failed', heading: 'Failed' },
  },
  'a review that finds something': {
    replies: report,
    words: ['review'],
    ...{ code: 0, reason: 'done', result: 'done', heading: 'Done' },
  },
  'a refusal that ends it': {
    replies: refused,
    words: ['--fail-on-denied'],
    ...{ code: 3, reason: 'stoppedByGuardian', result: 'denied', heading: 'Stopped by the Guardian' },
  },
  'a budget that is spent': {
    replies: [[call('exec_command', { cmd: 'true' })]],
    words: ['--max-turns', '1'],
    ...{ code: 4, reason: 'budget', result: 'budget', heading: 'Budget used up' },
  },
  'a provider that refuses': {
    replies: [{ status: 400, body: { error: { message: 'no' } } }],
    ...{ code: 6, reason: 'provider', result: 'provider', heading: 'The model’s provider failed' },
  },
  'an interrupt': {
    replies: ['silence'],
    signal: 'SIGINT',
    ...{ code: 130, reason: 'interrupted', result: 'interrupted', heading: 'Interrupted' },
  },
  'a signal to end': {
    replies: ['silence'],
    signal: 'SIGTERM',
    ...{ code: 143, reason: 'terminated', result: 'interrupted', heading: 'Terminated' },
  },
}

const names = ['r.html', 'r.md', 'r.json', 'r.xml', 'r.sarif', 'codequality.json']

async function runTo({ replies, words = [], signal }: End, out: string, home: string): Promise<Exec> {
  const cwd = repository({ a: 'a\n', 'schema.json': '{"type":"object"}' })
  const isReview = words[0] === 'review'
  const reports = names.flatMap((name) => ['--report', join(out, name)])
  return exec(replies, [...words, '--json', ...reports, ...(isReview ? [] : ['x'])], {
    cwd,
    home,
    env: { GITHUB_STEP_SUMMARY: join(out, 'summary.md') },
    ...(signal === undefined ? {} : { onStart: (child) => child.stdout?.once('data', () => child.kill(signal)) }),
  })
}

describe.skipIf(needsBubblewrap())('every output of a run says the same of its end', () => {
  test.each(Object.entries(ends))('%s', async (_, end) => {
    const [out, home] = [tempDir({ 'summary.md': '' }), tempDir()]
    const { code, reason, result, heading } = end
    const ended = await runTo(end, out, home)
    expect(ended.code, ended.stderr).toBe(code)
    const last = ended.events.at(-1)
    expect(last).toMatchObject(
      code === 0 ? { type: 'turn.completed', result } : { type: 'turn.failed', reason, exit_code: code, result },
    )
    expect(ended.stderr).toContain(`exit code ${code}`)
    const [html = '', md = '', json = '', xml = '', sarif = '', quality = ''] = names.map((name) =>
      readFileSync(join(out, name), 'utf8'),
    )
    expect(/<h1>(.*)<\/h1>/.exec(html)?.[1]).toBe(heading)
    expect(html.includes(`exit code ${code} · result ${result}`)).toBe(true)
    const summary = readFileSync(join(out, 'summary.md'), 'utf8')
    for (const text of [md, summary]) expect(text.split('\n', 1)[0]).toBe(`## ${heading} · exit code ${code}`)
    expect(JSON.parse(json).runs.at(-1).end).toMatchObject({ reason, result, exitCode: code })
    const own = /<testcase classname="agent exec" name="the run ended with exit code 0" time="[\d.]+"(\/?)>/.exec(xml)
    expect(own?.[1]).toBe(code === 0 ? '/' : '')
    expect(JSON.parse(sarif).runs[0].invocations).toEqual([{ executionSuccessful: code === 0, exitCode: code }])
    expect(JSON.parse(sarif).runs[0]).toHaveProperty('properties.record.tests')
    expect([...faultsInSarif(sarif), ...faultsInCodeQuality(quality), ...(await faultsInJunit(xml))]).toEqual([])
    const [first] = ended.events
    const session = first?.type === 'thread.started' ? first.thread_id : expect.fail('no first event')
    const told = await agent(['report', session, '--format', 'annotations'], { cwd: tempDir(), home })
    expect(told.stdout.startsWith(`::error title=agent exec::${heading}`)).toBe(code !== 0)
  })
})

test.skipIf(needsBubblewrap())('every report of a run that was killed says that it was cut off', async () => {
  const [cwd, home] = [repository(), tempDir()]
  let run: ChildProcess | undefined
  const killedWhenAsked = (): Reply => {
    run?.kill('SIGKILL')
    return 'silence'
  }
  const killed = await exec(killedWhenAsked, ['--json', 'x'], { ...{ cwd, home }, onStart: (child) => (run = child) })
  const [first] = killed.events
  const session = first?.type === 'thread.started' ? first.thread_id : expect.fail('no first event')
  const reports = ['html', 'md', 'json', 'junit', 'sarif', 'annotations'].map(async (format) => {
    const told = await agent(['report', session, '--format', format], { cwd, home })
    return told.code === 0 ? told.stdout : expect.fail(told.stderr)
  })
  const [html = '', md, json = '', xml, sarif = '', annotations] = await Promise.all(reports)
  const words = 'Cut off: the run never recorded its end'
  expect(/<h1>(.*)<\/h1>/.exec(html)?.[1]).toBe(words)
  expect(md).toMatch(new RegExp(`^## ${words}\n`))
  expect(JSON.parse(json).runs.at(-1)).not.toHaveProperty('end')
  expect(xml).toContain(`<failure message="${words}"`)
  expect(JSON.parse(sarif).runs[0].invocations).toEqual([{ executionSuccessful: false }])
  expect(annotations).toBe(`::error title=agent exec::${words}\n`)
})

test.each([
  ['no sandbox', ['-c', 'sandbox_backend="seatbelt"'], 5, 'sandboxUnavailable', 'no-sandbox'],
  ['wrong usage', ['-c', 'no_such_key=1'], 2, 'usage', 'failed'],
])('where a run cannot begin for %s, the last event, the exit code and the words agree', async (...row) => {
  const [, words, code, reason, result] = row
  const out = tempDir()
  const ended = await exec([], ['--json', ...words, '--report', join(out, 'r.html'), 'x'], { cwd: repository() })
  expect([ended.code, ended.requests.length, existsSync(join(out, 'r.html'))]).toEqual([code, 0, false])
  const last = ended.events.at(-1)
  expect(last).toMatchObject({ type: 'turn.failed', reason, exit_code: code, result })
  const message = last?.type === 'turn.failed' ? last.error.message : expect.fail('no end')
  expect(ended.stderr).toContain(message.split('\n', 1)[0])
})
