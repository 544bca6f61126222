import type { ReviewReport } from '../core/review-report-schema.ts'
import { severities } from '../core/severities.ts'
import type { Finding } from './judge-findings.ts'
import { counted } from '../core/text/counted.ts'

/** The findings that no earlier report contains, the worst first. */
function newFindings(findings: readonly Finding[]): readonly Finding[] {
  return findings
    .filter(({ known }) => known !== true)
    .toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
}

/** The final message of a review in Markdown: how many findings there are and what was left out, the summary, and the new findings. */
export function reviewMessage(summary: string, findings: readonly Finding[], report: ReviewReport): string {
  const shown = newFindings(findings)
  const counts = severities
    .toReversed()
    .flatMap((severity) => (report.findings[severity] === 0 ? [] : [`${report.findings[severity]} ${severity}`]))
  const left = [
    ...(report.known === 0 ? [] : [`${report.known} ${report.known === 1 ? 'was' : 'were'} already known`]),
    ...(report.outside_change === 0
      ? []
      : [`${report.outside_change} ${report.outside_change === 1 ? 'was' : 'were'} outside the change and left out`]),
    ...(report.suggestions_dropped === 0 ? [] : [`${counted(report.suggestions_dropped, 'suggestion')} left out`]),
    ...(report.not_shown.length === 0 ? [] : [`${counted(report.not_shown.length, 'file')} not shown to the model`]),
  ]
  const head = `${shown.length === 0 ? 'No finding' : counted(shown.length, 'finding')} in ${report.of}, ${counted(report.files, 'file')}`
  const blocks = [
    `${[`${head}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`, ...left].join('; ')}.`,
    ...(summary.trim() === '' ? [] : [summary.trim()]),
    ...shown.map(findingText),
  ]
  return blocks.join('\n\n')
}

function findingText({ path, start_line: start, end_line: end, ...finding }: Finding): string {
  const { severity, category, confidence, title, body, suggestion } = finding
  const lines = start === end ? `${start}` : `${start}-${end}`
  return [
    `## [${severity}] ${title}`,
    `\`${path}:${lines}\` · ${category} · confidence ${confidence}`,
    body.trim(),
    ...(suggestion === undefined ? [] : [`~~~patch\n${suggestion.trimEnd()}\n~~~`]),
  ].join('\n\n')
}
