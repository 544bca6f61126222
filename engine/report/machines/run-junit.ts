import { recordLines } from '../../core/run-record.ts'
import type { Report } from '../report-types.ts'
import { revealed } from '../text/reveal.ts'
import { endingOf, lastRun, verifyLines } from '../run-facts.ts'
import { isNew, reviewFindings } from '../review-findings.ts'

/** A check of a run. It passed, failed or was skipped. */
type Check = {
  readonly name: string
  readonly seconds: number
  readonly failure: string | undefined
  /** Why the check was skipped; undefined if it wasn't. */
  readonly skipped?: string
}

/**
 * Renders the run's checks as JUnit XML: that the run ended successfully, that the record doesn't contradict what the model claimed, that nothing was
 * refused, and that each `--verify` command passed. Each new finding of a review is a failed check. The output follows Jenkins' schema
 * (`fixtures/schemas/junit.xsd`), because it is the strictest: the reason why a case was skipped must be the text of its element, and only suites may
 * have a count of skipped cases.
 */
export function writeJunit(report: Report): string {
  const checks = checksOf(report)
  const failures = checks.filter(({ failure }) => failure !== undefined).length
  const time = checks.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3)
  const skips = checks.filter(({ skipped }) => skipped !== undefined).length
  const counts = `tests="${checks.length}" failures="${failures}" errors="0" time="${time}"`
  const cases = checks.map(({ name, seconds, failure, skipped }) => {
    const head = `    <testcase classname="agent exec" name="${escapeXml(name)}" time="${seconds.toFixed(3)}"`
    if (skipped !== undefined) return `${head}>\n      <skipped>${escapeXml(skipped)}</skipped>\n    </testcase>`
    if (failure === undefined) return `${head}/>`
    const [first = ''] = failure.split('\n', 1)
    return `${head}>\n      <failure message="${escapeXml(first)}" type="failure">${escapeXml(failure)}</failure>\n    </testcase>`
  })
  const suite = [
    `  <testsuite name="agent exec" ${counts} skipped="${skips}">`,
    ...propertiesOf(report),
    ...cases,
    '  </testsuite>',
  ].join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="Portcullis" ${counts}>\n${suite}\n</testsuites>\n`
}

/** What the record says about tests, commits and pushes. */
function propertiesOf(report: Report): readonly string[] {
  const { record } = lastRun(report).end ?? {}
  if (record === undefined) return []
  const lines = recordLines(record).map(
    ({ name, words }) => `      <property name="${name}" value="${escapeXml(words)}"/>`,
  )
  return ['    <properties>', ...lines, '    </properties>']
}

function checksOf(report: Report): readonly Check[] {
  const run = lastRun(report)
  const { end } = run
  const { words } = endingOf(run)
  const refused = report.findings.filter(({ ruleId }) => ruleId.startsWith('guardian/'))
  const contradictions = end?.contradictions ?? []
  const list = (lines: readonly string[]): string | undefined => (lines.length === 0 ? undefined : lines.join('\n'))
  return [
    {
      name: 'the run ended with exit code 0',
      seconds: (end?.durationMs ?? 0) / 1000,
      failure: end?.exitCode === 0 ? undefined : [words, end?.message].filter(Boolean).join(': '),
    },
    {
      name: 'the record does not contradict the model',
      seconds: 0,
      failure: list(contradictions.map(({ claimed, record }) => `${claimed}: ${record}`)),
    },
    {
      name: 'nothing was refused',
      seconds: 0,
      failure: list(refused.map(({ title, message }) => `${title}: ${message}`)),
    },
    ...verifyLines(run).map(({ command, state, words }) => ({
      name: `verify: ${command}`,
      seconds: (end?.verified.find((one) => one.command === command)?.durationMs ?? 0) / 1000,
      failure: state === 'failed' ? [words, outputOf(report, command)].filter(Boolean).join('\n') : undefined,
      ...(state === 'not run' ? { skipped: words } : {}),
    })),
    ...reviewFindings(report.findings)
      .filter(isNew)
      .map(({ title, message, severity, path = '', startLine = 1 }) => ({
        name: `review: ${path}:${startLine} ${title}`,
        seconds: 0,
        failure: `${severity}: ${title}\n${message}`,
      })),
  ]
}

/** What a `--verify` command printed in its last run. */
function outputOf({ steps }: Report, command: string): string | undefined {
  const step = steps.findLast(({ kind, parts }) => kind === 'verify' && parts[0]?.text === command)
  return step?.parts.find(({ label }) => label === 'output')?.text
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for XML. Control characters, unpaired surrogates, U+FFFE and U+FFFF are replaced, because XML 1.0 can't represent them. */
export function escapeXml(text: string): string {
  return revealed(text)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (character) => entities[character] ?? '')
    .replaceAll('\n', '&#10;')
    .replaceAll('\t', '&#9;')
}
