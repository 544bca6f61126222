import { dollars, seconds } from '../../display/format-values.ts'
import type { BatchStatistics, ModelStatistics, PairedStatistics } from './compare-models.ts'
import type { Estimate } from './estimates.ts'

/** A table with a title. Each row is a list of cells; the first row is the header. */
export type Table = { readonly title: string; readonly rows: readonly (readonly string[])[] }

/**
 * The statistics of a batch's models, as tables for human readers. The first table has a row for each model. If there are at least two models, a second table
 * compares them.
 */
export function tablesOf({ models, pairs }: BatchStatistics): readonly Table[] {
  const most = Math.max(0, ...models.map(({ passAt }) => passAt.length))
  const ks = most > 1 ? Array.from({ length: most }, (_, at) => at + 1) : []
  const heads = [
    'model',
    'solved',
    '95 %',
    ...ks.map((k) => `pass@${k}`),
    'cost/solved',
    'time/solved',
    'cost',
    'no answer',
  ]
  const rows = models.map((one) => [
    nameOf(one.model),
    `${one.solved}/${one.answers} ${percent(one.share?.value)}`,
    interval(one.share, percent),
    ...ks.map((k) => percent(one.passAt[k - 1]?.value)),
    one.costPerSolvedUsd === undefined ? '–' : priced(one, one.costPerSolvedUsd),
    one.msPerSolved === undefined ? '–' : seconds(one.msPerSolved),
    priced(one, one.costUsd),
    withoutAnswer(one),
  ])
  const paired = pairs.map((pair) => [
    `${nameOf(pair.b)} − ${nameOf(pair.a)}`,
    points(pair.difference?.value),
    interval(pair.difference, points),
    `${pair.wins} : ${pair.losses}`,
    String(pair.tasks),
    pair.p < 0.001 ? '< 0.001' : pair.p.toFixed(3),
  ])
  return [
    { title: 'Models', rows: [heads, ...rows] },
    ...(pairs.length === 0
      ? []
      : [
          {
            title: 'Differences, task by task',
            rows: [['pair', 'difference', '95 %', 'better : worse', 'tasks', 'p'], ...paired],
          },
        ]),
  ]
}

/** Notes that explain the figures. */
export const tableNotes: readonly string[] = [
  'Shares are computed over the runs with an answer. Runs without an answer are not results, but their cost counts. Several runs of one task are not independent, so if tasks were run more than once, the confidence intervals of the shares are too narrow.',
  'Differences are means over the tasks for which both models have an answer; p is the result of the sign test.',
]

/** Renders tables as text in columns. */
export function renderText(tables: readonly Table[]): string {
  return tables
    .map(({ title, rows }) => {
      const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
      const lines = rows.map((row) =>
        row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd(),
      )
      return `${title}\n${lines.join('\n')}\n`
    })
    .join('\n')
}

/** Renders tables as Markdown. */
export function renderMarkdownTables(tables: readonly Table[], escape: (text: string) => string): string {
  const line = (row: readonly string[]): string => `| ${row.map((cell) => escape(cell)).join(' | ')} |`
  return tables
    .map(({ title, rows: [heads = [], ...rows] }) =>
      [`### ${title}`, '', line(heads), `| ${heads.map(() => '---').join(' | ')} |`, ...rows.map(line), ''].join('\n'),
    )
    .join('\n')
}

/**
 * Renders the figures as CSV (RFC 4180): a header, and one line for each model. The lines after the first also compare their model with the first
 * one. The figures have up to ten significant digits.
 */
export function renderCsv({ models, pairs }: BatchStatistics): string {
  const most = Math.max(0, ...models.map(({ passAt }) => passAt.length))
  const ks = Array.from({ length: most }, (_, at) => at + 1)
  const heads = ['model', 'trials', 'answers', 'solved', 'tasks', 'solved_tasks', 'share', 'share_low', 'share_high']
  const rest = ['cost_usd', 'unpriced', 'cost_per_solved_usd', 'duration_ms', 'ms_per_solved', 'without_answer', 'open']
  const first = models[0]?.model
  const versus = pairs.filter(({ a }) => a === first)
  const compared =
    versus.length === 0 ? [] : ['difference_to_first', 'difference_low', 'difference_high', 'better', 'worse', 'p']
  const lines = models.map((one) => {
    const pair = versus.find(({ b }) => b === one.model)
    return [
      one.model ?? '',
      ...[one.trials, one.answers, one.solved, one.tasks, one.solvedTasks],
      ...bounds(one.share),
      ...ks.map((k) => one.passAt[k - 1]?.value),
      ...[one.costUsd, one.unpriced, one.costPerSolvedUsd, one.durationMs, one.msPerSolved],
      ...[Object.values(one.withoutAnswer).reduce((sum, count) => sum + count, 0), one.open],
      ...(compared.length === 0 ? [] : pair === undefined ? compared.map(() => undefined) : pairedCells(pair)),
    ]
  })
  return [[...heads, ...ks.map((k) => `pass_at_${k}`), ...rest, ...compared], ...lines]
    .map((row) => `${row.map(csvCell).join(',')}\r\n`)
    .join('')
}

function pairedCells({ difference, wins, losses, p }: PairedStatistics): readonly (number | undefined)[] {
  return [...bounds(difference), wins, losses, p]
}

function bounds(estimate: Estimate | undefined): readonly (number | undefined)[] {
  return [estimate?.value, estimate?.low, estimate?.high]
}

function csvCell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(Number(value.toPrecision(10)))
  // A name that looks like a formula is escaped, because a spreadsheet would otherwise evaluate it.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function nameOf(model: string | undefined): string {
  return model ?? 'as configured'
}

function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${(share * 100).toFixed(1)} %`
}

function points(difference: number | undefined): string {
  return difference === undefined ? '–' : `${difference > 0 ? '+' : ''}${(difference * 100).toFixed(1)}`
}

function interval(estimate: Estimate | undefined, shown: (value: number) => string): string {
  return estimate === undefined ? '–' : `${shown(estimate.low)} … ${shown(estimate.high)}`
}

function priced({ unpriced }: ModelStatistics, amount: number): string {
  return unpriced === 0 ? dollars(amount) : `≥ ${dollars(amount)}`
}

function withoutAnswer({ withoutAnswer: counted, open }: ModelStatistics): string {
  const words = Object.entries(counted).map(([outcome, count]) => `${count} ${outcome}`)
  return [...words, ...(open > 0 ? [`${open} open`] : [])].join(', ') || '0'
}
