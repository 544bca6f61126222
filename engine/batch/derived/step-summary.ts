import { dollars, seconds } from '../../display/format-values.ts'
import { inline } from '../../report/markdown/escape.ts'
import type { Summary, TrialResult } from './results.ts'

/**
 * Renders GitHub's step summary for a batch: how many times each outcome occurred, the cost, and then the trials that were settled with any outcome
 * except `done`, as many as fit.
 *
 * @param room the maximum size of the summary in bytes
 */
export function renderStepSummary(results: readonly TrialResult[], summary: Summary, room: number): string {
  const { settled, trials, outcomes, cost_usd: cost } = summary
  const counts = Object.entries(outcomes).map(([name, count]) => `| ${name} | ${count} |`)
  const lines = [
    `### Batch: ${settled} of ${trials} settled`,
    '',
    '| outcome | runs |',
    '| --- | --- |',
    ...counts,
    '',
    `Cost: ${inline(dollars(cost))}`,
    '',
  ]
  const others = results.flatMap(({ trial, settled: record }) => {
    if (record === undefined || record.outcome === 'done') return []
    const { model } = trial
    const name = [inline(trial.task), ...(model === undefined ? [] : [inline(model)])].join(', ')
    return [`- ${name}: ${record.outcome}, ${seconds(record.duration_ms)}: ${inline(record.error ?? '', 200)}`]
  })
  const kept: string[] = []
  let left = room - Buffer.byteLength(lines.join('\n')) - 100
  for (const line of others) {
    left -= Buffer.byteLength(line) + 1
    if (left < 0) break
    kept.push(line)
  }
  const more = others.length > kept.length ? [`- and ${others.length - kept.length} more`] : []
  return `${[...lines, ...kept, ...more].join('\n')}\n`
}
