import { dollars, seconds } from '../../display/format-values.ts'
import type { ModelStatistics } from './compare-models.ts'
import type { Estimate } from './estimates.ts'

/** The statistics of a batch's models as one table for human readers: the first row is the header, and each model has a row. */
export function tableOf(models: readonly ModelStatistics[]): readonly (readonly string[])[] {
  const most = Math.max(0, ...models.map(({ passAt }) => passAt.length))
  const ks = most > 1 ? Array.from({ length: most }, (_, at) => at + 1) : []
  const isCompared = models.length > 1
  const heads = ['model', 'solved', '95 %', ...ks.map((k) => `pass@${k}`)]
  const versus = isCompared ? ['to the first', '95 %', 'better : worse', 'tasks', 'p'] : []
  const rows = models.map((one) => [
    one.model ?? 'as configured',
    `${one.solved}/${one.answers} ${percent(one.share?.value)}`,
    interval(one.share, percent),
    ...ks.map((k) => percent(one.passAt[k - 1]?.value)),
    priced(one, one.costPerSolvedUsd),
    one.msPerSolved === undefined ? '–' : seconds(one.msPerSolved),
    priced(one, one.costUsd),
    withoutAnswer(one),
    ...(isCompared ? versusCells(one) : []),
  ])
  return [[...heads, 'cost/solved', 'time/solved', 'cost', 'no answer', ...versus], ...rows]
}

/** Notes that explain the figures. */
export const tableNotes: readonly string[] = [
  'Shares are computed over the runs with an answer. Runs without an answer are not results, but their cost counts. Several runs of one task are not independent, so if tasks were run more than once, the confidence intervals of the shares are too narrow.',
  'Differences to the first model are means over the tasks for which both have an answer; p is the result of the sign test.',
]

/** Renders a table as text in columns. */
export function renderText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('')
}

/** Renders a table as Markdown. */
export function renderMarkdown(rows: readonly (readonly string[])[], escape: (text: string) => string): string {
  const [heads = '', ...lines] = rows.map((row) => `| ${row.map((cell) => escape(cell)).join(' | ')} |`)
  return [heads, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...lines, ''].join('\n')
}

/** Renders the figures as CSV (RFC 4180): a header, and one line for each model. The figures have up to ten significant digits. */
export function renderCsv(models: readonly ModelStatistics[]): string {
  const most = Math.max(0, ...models.map(({ passAt }) => passAt.length))
  const lines = models.map((one) => figuresOf(one, most, models.length > 1))
  const heads = lines[0] === undefined ? [] : Object.keys(lines[0])
  return [heads, ...lines.map((line) => Object.values(line))].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

type Figures = Readonly<Record<string, string | number | undefined>>

function figuresOf(one: ModelStatistics, most: number, isCompared: boolean): Figures {
  const { share, versusFirst } = one
  const passes = Array.from({ length: most }, (_, at) => [`pass_at_${at + 1}`, one.passAt[at]?.value])
  const versus: Figures = {
    difference_to_first: versusFirst?.difference?.value,
    difference_low: versusFirst?.difference?.low,
    difference_high: versusFirst?.difference?.high,
    ...{ better: versusFirst?.wins, worse: versusFirst?.losses, p: versusFirst?.p },
  }
  return {
    ...{ model: one.model ?? '', trials: one.trials, answers: one.answers, solved: one.solved, tasks: one.tasks },
    ...{ solved_tasks: one.solvedTasks, share: share?.value, share_low: share?.low, share_high: share?.high },
    ...(Object.fromEntries(passes) as Figures),
    ...{ cost_usd: one.costUsd, unpriced: one.unpriced, cost_per_solved_usd: one.costPerSolvedUsd },
    ...{ duration_ms: one.durationMs, ms_per_solved: one.msPerSolved },
    without_answer: Object.values(one.withoutAnswer).reduce((sum, count) => sum + count, 0),
    open: one.open,
    ...(isCompared ? versus : {}),
  }
}

function csvCell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(Number(value.toPrecision(10)))
  // A name that looks like a formula is escaped, because a spreadsheet would otherwise evaluate it.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
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

function priced({ unpriced }: ModelStatistics, amount: number | undefined): string {
  if (amount === undefined) return '–'
  return unpriced === 0 ? dollars(amount) : `≥ ${dollars(amount)}`
}

function versusCells({ versusFirst }: ModelStatistics): readonly string[] {
  if (versusFirst === undefined) return ['–', '–', '–', '–', '–']
  const { difference, wins, losses, tasks, p } = versusFirst
  const shownP = p < 0.001 ? '< 0.001' : p.toFixed(3)
  return [points(difference?.value), interval(difference, points), `${wins} : ${losses}`, String(tasks), shownP]
}

function withoutAnswer({ withoutAnswer: counted, open }: ModelStatistics): string {
  const words = Object.entries(counted).map(([outcome, count]) => `${count} ${outcome}`)
  return [...words, ...(open > 0 ? [`${open} open`] : [])].join(', ') || '0'
}
