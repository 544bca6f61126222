import { escapeXml } from '../../report/machines/run-junit.ts'
import { isAnswer } from '../outcome.ts'
import type { TrialResult } from './results.ts'

/**
 * Renders a batch as JUnit XML, with a test suite for each model and a test case for each trial. The test case passes if the outcome is `done`. It is
 * a failure if the trial ended with any other answer, an error if it ended without an answer, and skipped if the trial is still open.
 */
export function renderJunit(results: readonly TrialResult[]): string {
  const suites = new Map<string, TrialResult[]>()
  for (const result of results) {
    const name = result.trial.model ?? 'agent batch'
    suites.set(name, [...(suites.get(name) ?? []), result])
  }
  const written = [...suites].map(([name, cases]) => {
    const head = `  <testsuite name="${escapeXml(name)}" ${countsOf(cases)}>`
    return [head, ...cases.map((result) => caseOf(name, result)), '  </testsuite>'].join('\n')
  })
  const head = `<testsuites name="Portcullis" ${countsOf(results)}>`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${[head, ...written, '</testsuites>'].join('\n')}\n`
}

function countsOf(results: readonly TrialResult[]): string {
  const [failures, errors, skipped] = (['failure', 'error', 'skipped'] as const).map(
    (kind) => results.filter((result) => kindOf(result) === kind).length,
  )
  const seconds = results.reduce((sum, { settled }) => sum + (settled?.duration_ms ?? 0), 0) / 1000
  return `tests="${results.length}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${seconds.toFixed(3)}"`
}

function kindOf({ settled }: TrialResult): 'passed' | 'failure' | 'error' | 'skipped' {
  if (settled === undefined) return 'skipped'
  if (settled.outcome === 'done') return 'passed'
  return isAnswer(settled.outcome) ? 'failure' : 'error'
}

function caseOf(suite: string, result: TrialResult): string {
  const { trial, settled } = result
  const name = trial.repeat > 1 ? `${trial.task} (${trial.repeat})` : trial.task
  const seconds = ((settled?.duration_ms ?? 0) / 1000).toFixed(3)
  const head = `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}" time="${seconds}"`
  const kind = kindOf(result)
  if (kind === 'passed') return `${head}/>`
  if (kind === 'skipped' || settled === undefined) return `${head}>\n      <skipped/>\n    </testcase>`
  const error = settled.error ?? settled.outcome
  const message = `message="${escapeXml(error.split('\n')[0] ?? '')}" type="${settled.outcome}"`
  return `${head}>\n      <${kind} ${message}>${escapeXml(error)}</${kind}>\n    </testcase>`
}
