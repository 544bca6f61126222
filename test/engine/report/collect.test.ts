import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { collectReport } from '../../../engine/report/collect.ts'
import type { Report } from '../../../engine/report/report-types.ts'
import { reportFormats } from '../../../engine/report/formats.ts'
import { renderReport } from '../../../engine/report/render-report.ts'
import { tempDir } from '../../support/temp-dir.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const start = {
  type: 'thread.started',
  thread_id: 't',
  config: { model: 'm', cwd: '/w', sandbox_mode: 'read-only', sandbox_backend: 'bubblewrap' },
}
const command = (at: number, output: string, status = 'completed') => ({
  type: 'item.completed',
  item: {
    id: `item_${at}`,
    type: 'command_execution',
    command: `echo ${at}`,
    aggregated_output: output,
    exit_code: 0,
    status,
  },
})

function fileOf(events: readonly unknown[]): string {
  const file = join(tempDir(), 'events.jsonl')
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  return file
}

/** Collects the report of a file that must contain a session's events. */
function reportOf(file: string): Report {
  const report = collectReport(file)
  return typeof report === 'string' ? expect.fail(report) : report
}

test('a long session becomes a page that is small enough to send, and still contains what was refused', () => {
  const file = fileOf([start])
  const output = 'x'.repeat(20_000)
  const lines = Array.from({ length: 1500 }, (_, at) =>
    JSON.stringify(command(at, `${at} ${output}`, at === 700 ? 'declined' : 'completed')),
  )
  appendFileSync(file, `${lines.join('\n')}\n`)
  const short = Array.from({ length: 20_000 }, (_, at) => JSON.stringify(command(at, 'ok')))
  appendFileSync(file, `${short.join('\n')}\n`)
  const report = reportOf(file)
  expect(report.totals).toMatchObject({ steps: 21_500, refused: 1 })
  expect(report.omittedSteps).toBeGreaterThan(10_000)
  const page = renderReport(report, 'html')
  expect(page.length).toBeLessThan(5_000_000)
  expect(page).toContain('href="#step-701"')
  expect(page).toContain('id="step-701"')
  expect(Buffer.byteLength(renderReport(report, 'md'))).toBeLessThan(1024 * 1024)
})

test('text that grows when it is escaped does not enlarge the page', () => {
  const output = '\u202e'.repeat(1_900)
  const page = renderReport(
    reportOf(fileOf([start, ...Array.from({ length: 400 }, (_, at) => command(at, output))])),
    'html',
  )
  expect(Buffer.byteLength(page)).toBeLessThan(5_000_000)
  expect(page).toContain('id="step-400"')
})

test('a torn or foreign file does not make it fail, but is reported to contain no run', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(start, command(1, 'x'), { type: 'turn.completed' }, { type: 'event', event: 1 }),
  )
  const torn = fc.record({
    type: fc.constantFrom(
      'item.completed',
      'item',
      'response',
      'event',
      'spent',
      'begin',
      'turn.failed',
      'summary',
      'thread.started',
    ),
    item: fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constantFrom('file_change', 'todo_list', 'mcp_tool_call', 'hook'),
        changes: fc.jsonValue(),
        items: fc.jsonValue(),
        result: fc.jsonValue(),
      }),
    ),
    event: fc.jsonValue(),
    ...{
      config: fc.jsonValue(),
      files: fc.jsonValue(),
      usage: fc.jsonValue(),
      changes: fc.jsonValue(),
      contradictions: fc.jsonValue(),
      record: fc.jsonValue(),
    },
  })
  fc.assert(
    fc.property(fc.array(fc.oneof(value, torn), { maxLength: 20 }), (events) => {
      const file = fileOf(events)
      const report = collectReport(file)
      if (typeof report === 'string') expect(report).toContain('contains no run')
      else for (const format of reportFormats) renderReport(report, format)
    }),
    { numRuns: 150 },
  )
})

test('the changed files from the end of a run are shown together with the patches', () => {
  const diff = '--- a/src/a.js\n+++ b/src/a.js\n@@ -1,2 +1,2 @@\n-one\n+two\n three'
  const patch = {
    id: 'i',
    type: 'file_change',
    changes: [{ path: '/w/src/a.js', kind: 'update' }],
    status: 'completed',
    diff,
  }
  const report = reportOf(
    fileOf([
      start,
      { type: 'item.completed', item: patch },
      {
        type: 'summary',
        files: [
          { path: '/w/src/a.js', kind: 'update' },
          { path: '/w/made', kind: 'add', by: 'command' },
        ],
      },
    ]),
  )
  expect(report.files).toEqual([
    {
      path: 'src/a.js',
      kind: 'update',
      byCommand: false,
      added: 1,
      removed: 1,
      diffs: [{ step: 1, diff }],
      omittedDiffs: 0,
    },
    { path: 'made', kind: 'add', byCommand: true, added: 0, removed: 0, diffs: [], omittedDiffs: 0 },
  ])
})

test('a file that was patched many times shows the first of its patches, and says how many more there are', () => {
  const patch = (at: number) => ({
    type: 'item.completed',
    item: {
      ...{ id: `p${at}`, type: 'file_change', status: 'completed', changes: [{ path: '/w/a.js', kind: 'update' }] },
      diff: `--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-${at}\n+${at + 1}\n`,
    },
  })
  const report = reportOf(fileOf([start, ...Array.from({ length: 700 }, (_, at) => patch(at))]))
  expect(report.files).toMatchObject([{ path: 'a.js', added: 700, removed: 700, omittedDiffs: 200 }])
  expect(report.files[0]?.diffs).toHaveLength(500)
  expect(renderReport(report, 'html')).toContain('200 more patches of this file are left out.')
})

test('a report keeps no more of a long session in memory than it shows', () => {
  const line = 'export const a = 1 // a line of some output\n'
  const many = (count: number): string =>
    fileOf([start, ...Array.from({ length: count }, (_, at) => command(at, `${at} ${line.repeat(20_000)}`))])
  // The memory that is still used when everything except the report has been released.
  const heldBy = (file: string): number => {
    const report = reportOf(file)
    collectGarbage()
    const held = process.memoryUsage().heapUsed
    expect(report.totals.steps).toBeGreaterThan(0)
    return held
  }
  const [short, long] = [many(1), many(30)]
  heldBy(short)
  expect(heldBy(long) - heldBy(short)).toBeLessThan(8_000_000)
})

test.each([
  ['critical', 'bad'],
  ['high', 'bad'],
  ['medium', 'warn'],
  ['low', 'note'],
])('a finding of a review tells what it is at the top of the page, and %s shows in its colour', (severity, tone) => {
  const finding = {
    ...{ id: 'f', type: 'review_finding', path: 'a.ts', start_line: 3, end_line: 3, severity, category: 'bug' },
    ...{ confidence: 1, title: 'One too many', body: 'The sum is NaN.\n\nLonger.', fingerprint: 'x' },
  }
  const file = join(tempDir(), 'events.jsonl')
  const events = [
    { type: 'thread.started', thread_id: 't', config: {} },
    { type: 'item.completed', item: finding },
  ]
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const report = collectReport(file)
  const page = typeof report === 'string' ? expect.fail(report) : renderReport(report, 'html')
  const [, attention = ''] = /<ul class="attention">([^]*?)<\/ul>/.exec(page) ?? []
  expect(attention).toContain('The sum is NaN.')
  expect(attention).not.toContain('Longer.')
  expect(page).toContain(`<span class="badge ${tone}">${severity}</span>`)
})

test('a command that failed again and again wants attention once, with how often it failed and the last step of it', () => {
  const failed = (at: number) => {
    const { item } = command(at, 'no\n', 'failed')
    return { type: 'item.completed', item: { ...item, command: 'npm test', exit_code: 1 } }
  }
  const page = renderReport(reportOf(fileOf([start, failed(1), command(2, 'x'), failed(3), command(4, 'x')])), 'html')
  const [, attention = ''] = /<ul class="attention">([^]*?)<\/ul>/.exec(page) ?? []
  expect(attention.match(/<strong>.*?<\/strong>/g)).toEqual(['<strong>Failed 2 times: npm test</strong>'])
  expect(attention).toContain('href="#step-3"')
})

test('a session of thousands of long reasons and denials becomes a page that is small enough to send', () => {
  const refused = (at: number) => {
    const verdict = { decision: 'deny', decided_by: 'program', reason: '<b>'.repeat(20_000), rule: `/w/x.rules:${at}` }
    const { item } = command(at, '', 'declined')
    return { type: 'item.completed', item: { ...item, verdict } }
  }
  const denied = (at: number) => {
    const { item } = command(at, '', 'failed')
    const denials = Array.from({ length: 40 }, (_, of) => ({
      ...{
        kind: 'path',
        subject: `/w/${at}/${of}`,
        rule: 'outside',
        how_to_allow: '&'.repeat(500),
        certainty: 'proven',
      },
    }))
    return { type: 'item.completed', item: { ...item, denials } }
  }
  const list = <T>(make: (at: number) => T): readonly T[] => Array.from({ length: 600 }, (_, at) => make(at))
  const report = reportOf(fileOf([start, ...list(refused), ...list(denied)]))
  const page = renderReport(report, 'html')
  expect(page.length).toBeLessThan(5_000_000)
  for (const text of ['/w/x.rules:599', '/w/0/39', 'and 39 more', '/w/599/0'])
    expect(page.includes(text), text).toBe(true)
})

test('without its style, a page keeps words apart, and the lines and indentation of a diff, as under Jenkins’ policy', () => {
  const diff = '--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n'
  const patch = { type: 'file_change', changes: [{ path: '/w/a.py', kind: 'update' }], status: 'completed', diff }
  const file = fileOf([start, command(1, 'x', 'failed'), { type: 'item.completed', item: { id: 'p', ...patch } }])
  const page = renderReport(reportOf(file), 'html')
  const words = page.replace(/<style>[^]*<\/style>/, '').replace(/<[^>]*>/g, '')
  expect(words).toMatch(/Commands\s+1 · 1 failed\s/)
  expect(words).toMatch(/\s1 command\s+echo 1\s+ · exit 0\s/)
  expect(words).toContain('    1  def f():\n    2 -    return 1\n    2 +    return 2\n')
})
