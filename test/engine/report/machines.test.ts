import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectReport } from '../../../engine/report/collect.ts'
import { formatOf, type ReportFormat } from '../../../engine/report/formats.ts'
import { renderReport } from '../../../engine/report/render-report.ts'
import { tempDir } from '../../support/temp-dir.ts'

const hostile = `a]]>"<b>&\u0007\u202e\ud800%0A::error::x\n::add-mask::y`

const usage = {
  input_tokens: 1,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  output_tokens: 1,
  reasoning_output_tokens: 0,
}

const refused = (id: string, command: string, rule: string) => ({
  type: 'item.completed',
  item: {
    ...{ id, type: 'command_execution', command, aggregated_output: '', exit_code: null, status: 'declined' },
    verdict: { decision: 'deny', decided_by: 'rules', reason: `Ask a person. ${hostile}`, rule },
  },
})

const denied = {
  type: 'item.completed',
  item: {
    ...{
      id: 'i2',
      type: 'command_execution',
      command: 'curl x',
      aggregated_output: '',
      exit_code: 1,
      status: 'failed',
    },
    denials: [{ kind: 'host', subject: 'example.com', rule: 'network', certainty: 'proven', how_to_allow: 'allow it' }],
  },
}

const events = [
  { type: 'thread.started', thread_id: 't', config: { model: 'm', cwd: '/w' } },
  refused('i0', 'git push', '/w/.portcullis/rules/own.rules:7 forbidden git push'),
  refused('i1', `rm ${hostile}`, '/home/somebody/their.rules:2 forbidden rm'),
  denied,
  {
    ...{
      type: 'turn.failed',
      reason: 'stoppedByGuardian',
      exit_code: 3,
      error: { message: `Stopped. ${hostile}` },
      usage,
    },
    ...{ duration_ms: 1500, denied: 2, result: 'denied' },
    contradictions: [{ about: 'tests', claimed: `npm test passed ${hostile}`, record: 'the command never ran' }],
  },
]

const noFiles = { created: [], changed: [], deleted: [], tests: [] }

function written(format: ReportFormat, told: readonly unknown[] = events): string {
  const file = join(tempDir(), 'events.jsonl')
  writeFileSync(file, told.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const report = collectReport(file)
  return typeof report === 'string' ? expect.fail(report) : renderReport(report, format)
}

describe('SARIF', () => {
  const run = () => JSON.parse(written('sarif')).runs[0]

  test('has everything that the standard requires, and each result has its rule', () => {
    const { results, tool, invocations } = run()
    expect(JSON.parse(written('sarif')).version).toBe('2.1.0')
    expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual([
      'guardian/rules',
      'sandbox/host',
      'claim/contradicted',
    ])
    expect(
      results.map(
        ({ ruleId, ruleIndex }: { ruleId: string; ruleIndex: number }) => tool.driver.rules[ruleIndex].id === ruleId,
      ),
    ).not.toContain(false)
    expect(results.map(({ level }: { level: string }) => level)).toEqual(['warning', 'warning', 'warning', 'error'])
    expect(invocations).toEqual([{ executionSuccessful: false, exitCode: 3 }])
  })

  test('has locations only in the workspace', () => {
    const { results } = run()
    expect(results.map(({ locations }: { locations: readonly unknown[] }) => locations.length)).toEqual([1, 0, 0, 0])
    expect(results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: '.portcullis/rules/own.rules', uriBaseId: '%SRCROOT%' },
      region: { startLine: 7, endLine: 7 },
    })
  })

  test('has what the judge of a change has against it, at the files', () => {
    const judged = {
      ...{ verdict: 'weakened', by: 'tests', judge_sha256: '0' },
      findings: [
        { kind: 'disabled', subject: 'test/a.test.js', test: 'test/a.test.js > adds' },
        { kind: 'edited', subject: 'test/b.test.js' },
      ],
    }
    const verified = [{ command: 'npm test', passed: false, exit_code: 0, duration_ms: 1, attempts: 1, judged }]
    const record = { tests: [], verified, pushed: [], commits: [], files: noFiles, refused: [] }
    const told = events.map((event) => ('denied' in event ? { ...event, contradictions: [], record } : event))
    const { results } = JSON.parse(written('sarif', told)).runs[0]
    const found = results.filter(({ ruleId }: { ruleId: string }) => ruleId.startsWith('judge/'))
    expect(found).toMatchObject([
      {
        ruleId: 'judge/disabled',
        level: 'error',
        locations: [{ physicalLocation: { artifactLocation: { uri: 'test/a.test.js' } } }],
      },
    ])
  })

  test('gives the same fingerprints in another run', () => {
    const prints = (text: string): unknown =>
      JSON.parse(text).runs[0].results.map(
        ({ partialFingerprints }: { partialFingerprints: unknown }) => partialFingerprints,
      )
    const later = [
      events[0],
      { type: 'item.completed', item: { id: 'i9', type: 'agent_message', text: 'hello' } },
      ...events.slice(1),
    ]
    expect(prints(written('sarif', later))).toEqual(prints(written('sarif')))
  })
})

test("GitLab's code quality has the fields that GitLab requires of each", () => {
  const entries = JSON.parse(written('codequality'))
  expect(entries).toHaveLength(4)
  for (const entry of entries) {
    expect(entry).toMatchObject({
      ...{
        description: expect.any(String),
        check_name: expect.any(String),
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
      severity: expect.stringMatching(/^(?:info|minor|major|critical|blocker)$/),
      location: { path: expect.stringMatching(/^[^/]/), lines: { begin: expect.any(Number) } },
    })
  }
})

describe('JUnit', () => {
  test('has test cases for the run, its final message and refusals', () => {
    const xml = written('junit')
    expect(xml).toContain('<testsuites name="Portcullis" tests="3" failures="3" errors="0" time="1.500">')
    expect(xml).toContain('<testcase classname="agent exec" name="the run ended with exit code 0" time="1.500">')
    const fine = written('junit', [
      events[0],
      { type: 'turn.completed', usage, duration_ms: 10, denied: 0, result: 'done' },
    ])
    expect(fine).toContain('tests="3" failures="0"')
  })

  test('is valid XML whatever the texts contain', () => {
    const xml = written('junit')
    const tags = [...xml.matchAll(/<(\/?)([a-z?]+)(?: [a-z]+="[^"<]*")*(\/?)>/g)].map(([tag]) => tag)
    const rest = tags.reduce((text, tag) => text.replace(tag, ''), xml)
    expect(rest.replace(/^<\?xml version="1.0" encoding="UTF-8"\?>/, '')).not.toMatch(
      /[<>]|&(?!amp;|lt;|gt;|quot;|#10;|#9;)/,
    )
    expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202e\ufffe\uffff]/)
    expect(xml.isWellFormed()).toBe(true)
  })
})

describe('annotations', () => {
  test('are one command per line, the end and the worst first, and no text can start another command', () => {
    const lines = written('annotations').trimEnd().split('\n')
    expect(lines.map((line) => line.split(/[ :]/).find(Boolean))).toEqual([
      'error',
      'error',
      'warning',
      'warning',
      'warning',
    ])
    expect(lines.filter((line) => !line.startsWith('::'))).toEqual([])
    expect(lines[2]).toMatch(
      /^::warning file=\.portcullis\/rules\/own\.rules,line=7,endLine=7,title=Refused%3A git push::Ask a person/,
    )
    expect(lines.join('')).not.toMatch(/[\r\u0007]/)
  })

  test('are limited to as many of each kind as GitHub shows, with the number of the others', () => {
    const many = Array.from({ length: 40 }, (_, at) => refused(`m${at}`, `git push ${at}`, 'r'))
    const lines = written('annotations', [events[0], ...many])
      .trimEnd()
      .split('\n')
    expect(lines.filter((line) => line.startsWith('::warning'))).toHaveLength(10)
    expect(lines.at(-1)).toMatch(/^30 more findings/)
  })
})

test.each([
  ['report.html', 'html'],
  ['r.MD', 'md'],
  ['junit.xml', 'junit'],
  ['agent.sarif', 'sarif'],
  ['gl-code-quality-report.json', 'codequality'],
  ['data.json', 'json'],
  ['report.txt', undefined],
])('%s is written as %s', (file, format) => {
  expect(formatOf(file)).toBe(format)
})
