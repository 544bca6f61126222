import { severities, type Severity } from '../core/severities.ts'
import { fieldsOf, numberOf, textOf, textsOf, type Fields } from './fields.ts'
import type { Finding, ReviewedFinding } from './report-types.ts'

/** Turns an item of a review into a finding. Fields that are missing or have the wrong type get a default, such as an empty text or undefined. */
export function reviewFindingOf(item: Fields): Omit<Finding, 'step'> {
  const text = (name: string): string => textOf(item[name]) ?? ''
  const severity = severities.find((each) => each === item['severity']) ?? 'low'
  const startLine = numberOf(item['start_line'])
  return {
    ruleId: `review/${text('category')}`,
    title: text('title'),
    message: text('body'),
    severity: severity satisfies Severity,
    path: textOf(item['path']),
    startLine,
    endLine: numberOf(item['end_line']) ?? startLine,
    fingerprint: text('fingerprint'),
    review: {
      category: text('category'),
      confidence: numberOf(item['confidence']) ?? 0,
      suggestion: textOf(item['suggestion']),
      replacement: replacementOf(item['replacement']),
      linePrints: textsOf(item['line_prints']),
      known: item['known'] === true,
    },
  }
}

function replacementOf(value: unknown): ReviewedFinding['replacement'] {
  const { start_line: start, end_line: end, text } = fieldsOf(value)
  const [startLine, endLine, written] = [numberOf(start), numberOf(end), textOf(text)]
  if (startLine === undefined || endLine === undefined || written === undefined) return undefined
  return { startLine, endLine, text: written }
}

/** Whether people should be notified of a finding. For a finding of a review, that is the case only if no earlier report contains it. */
export function isNew({ review }: Finding): boolean {
  return review?.known !== true
}

/** The findings of a review, the worst first. */
export function reviewFindings(
  findings: readonly Finding[],
): readonly (Finding & { readonly review: ReviewedFinding })[] {
  return findings
    .flatMap((finding) => (finding.review === undefined ? [] : [{ ...finding, review: finding.review }]))
    .toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
}
