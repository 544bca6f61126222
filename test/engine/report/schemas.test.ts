import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exitCodes, type EndReason } from '../../../engine/core/exit-codes.ts'
import { severities } from '../../../engine/core/severities.ts'
import { collectReport } from '../../../engine/report/collect.ts'
import { renderReport } from '../../../engine/report/render-report.ts'
import { agent } from '../../support/agent.ts'
import { hostileStrings } from '../../support/hostile-strings.ts'
import { faultsInCodeQuality, faultsInJunit, faultsInSarif } from '../../support/report-schemas.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Event = Readonly<Record<string, unknown>>

const usage = {
  ...{ input_tokens: 1, cached_input_tokens: 0, cache_write_input_tokens: 0, output_tokens: 1 },
  reasoning_output_tokens: 0,
}

const completed = (item: Event): Event => ({ type: 'item.completed', item })

/** Returns events with findings of every kind. All texts in them are `text`. */
function findings(text: string, at: number): readonly Event[] {
  const command = { type: 'command_execution', command: text, aggregated_output: text, exit_code: 1 }
  const review = { type: 'review_finding', path: text, title: text, body: text, suggestion: text, line_prints: [text] }
  return [
    ...['rules', 'permissions', 'analysis', 'mode', 'reviewer', '', text].map((decidedBy, kind) =>
      completed({
        ...{ ...command, id: `refused-${at}-${kind}`, exit_code: null, status: 'declined' },
        verdict: {
          ...{ decision: 'deny', decided_by: decidedBy, reason: text },
          rule: kind % 2 === 0 ? `/w/${text}:${kind + 1} forbidden` : text,
        },
      }),
    ),
    ...['path', 'host', 'limit', text].map((kind) =>
      completed({
        ...{ ...command, id: `denied-${at}-${kind.slice(0, 5)}`, status: 'failed' },
        denials: ['proven', 'likely'].map((certainty) => ({
          ...{ kind, subject: text, rule: text, certainty, how_to_allow: text },
        })),
      }),
    ),
    ...[...severities, text].flatMap((severity, kind) =>
      ['bug', 'security', 'performance', 'compatibility', 'maintainability', text].map((category, of) =>
        completed({
          ...{ ...review, id: `review-${at}-${kind}-${of}`, severity, category, known: of % 2 === 1 },
          ...{ confidence: of - 1, start_line: of, end_line: kind, fingerprint: `${at}/${kind}/${of}/${text}` },
          ...(of % 2 === 0 ? {} : { replacement: { start_line: of - 1, end_line: 0, text } }),
        }),
      ),
    ),
    completed({
      ...{ id: `verify-${at}`, type: 'verification', command: text, status: 'failed', exit_code: 1 },
      ...{ aggregated_output: text, attempt: 1 },
    }),
  ]
}

/** Returns the events of a run that ends for this reason. All texts in them are from `texts`. */
function run(texts: readonly string[], reason: EndReason | 'cut off'): readonly Event[] {
  const [text = ''] = texts
  const code = reason === 'cut off' ? 1 : exitCodes[reason]
  const verified = texts.map((command, at) => ({
    ...{ command, passed: at % 2 === 0, exit_code: at % 2, duration_ms: 12.5, attempts: 1 },
  }))
  const end = {
    ...{ usage, duration_ms: 1500, denied: 2, result: code === 0 ? 'done' : 'failed', verified },
    contradictions: texts.map((claim) => ({ about: 'tests', claimed: claim, record: claim })),
  }
  return [
    { at: 1, type: 'begin', prompt: text, context: texts, version: text },
    {
      ...{ type: 'thread.started', thread_id: 't' },
      config: { model: text, cwd: '/w', verify: { commands: [...texts, 'never run'] } },
    },
    ...texts.flatMap((each, at) => findings(each, at)),
    ...(reason === 'cut off'
      ? []
      : code === 0
        ? [{ type: 'turn.completed', ...end }]
        : [{ type: 'turn.failed', reason, exit_code: code, error: { message: text }, ...end }]),
  ]
}

function file(events: readonly Event[]): string {
  const written = join(tempDir(), 'events.jsonl')
  writeFileSync(written, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  return written
}

const groups = Array.from({ length: 10 }, (_, at) => hostileStrings.slice(at * 20, at * 20 + 20))
const ends = [...(Object.keys(exitCodes) as EndReason[]), 'cut off'] as const

describe('reports match the schemas of their formats', () => {
  test.each(groups.map((texts, at) => [at + 1, texts] as const))(
    'with a finding of every kind, all of its texts hostile (%i of 10)',
    async (at, texts) => {
      const report = collectReport(file(run(texts, ends[at % ends.length] ?? 'done')))
      if (typeof report === 'string') return expect.fail(report)
      expect(report.findings.length).toBeGreaterThan(800)
      expect(faultsInSarif(renderReport(report, 'sarif'))).toEqual([])
      expect(faultsInCodeQuality(renderReport(report, 'codequality'))).toEqual([])
      expect(await faultsInJunit(renderReport(report, 'junit'))).toEqual([])
    },
  )

  test('for every kind of end, as the program writes them', async () => {
    const from = ends.map((end) => file(run(['<b>&"\u0000\ud800'], end)))
    const write = (format: string): Promise<readonly string[]> =>
      Promise.all(
        from.map(async (events) => {
          const told = await agent(['report', events, '--format', format], { cwd: tempDir(), home: tempDir() })
          return told.code === 0 ? told.stdout : expect.fail(told.stderr)
        }),
      )
    expect((await write('sarif')).flatMap(faultsInSarif)).toEqual([])
    expect((await write('codequality')).flatMap(faultsInCodeQuality)).toEqual([])
    expect(await faultsInJunit(...(await write('junit')))).toEqual([])
  })
})

describe('the schemas', () => {
  /** Creates a valid report, and makes it invalid by replacing one text with another. */
  function broken(format: 'sarif' | 'codequality' | 'junit', right: string | RegExp, wrong: string): string {
    const report = collectReport(file(run(['a.ts'], 'failed')))
    const text = typeof report === 'string' ? expect.fail(report) : renderReport(report, format)
    const turned = text.replace(right, wrong)
    expect(turned).not.toBe(text)
    return turned
  }

  test.each([
    ['"version": "2.1.0"', '"version": "2.2.0"'],
    ['"level": "error"', '"level": "fatal"'],
    ['"startLine": 1', '"startLine": 0'],
    ['"uri": "a.ts"', '"uri": "a b.ts"'],
    ['"results": [', '"result": ['],
    ['{', ''],
  ])('of SARIF refuse %s turned to %s', (right, wrong) => {
    expect(faultsInSarif(broken('sarif', right, wrong))).not.toEqual([])
  })

  test.each([
    ['"severity": "minor"', '"severity": "medium"'],
    ['"begin": 1', '"begin": "1"'],
    ['"description"', '"descriptio"'],
    ['"path": "."', '"path": "/w"'],
    [/"fingerprint": "[^"]*"/g, '"fingerprint": "a"'],
  ])("of GitLab's code quality refuse %s turned to %s", (right, wrong) => {
    expect(faultsInCodeQuality(broken('codequality', right, wrong))).not.toEqual([])
  })

  test.each([
    ['<testsuite name=', '<testsuite nam='],
    ['</testsuites>', ''],
    ['<failure message=', '<failure massage='],
    ['verify: never run', 'verify: never & run'],
  ])('of JUnit refuse %s turned to %s', async (right, wrong) => {
    expect(await faultsInJunit(broken('junit', right, wrong))).not.toEqual([])
  })
})
