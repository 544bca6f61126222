import type { Report } from '../report-types.ts'
import { revealed } from '../text/reveal.ts'
import { placeIn } from './finding-location.ts'

const severities = { low: 'info', medium: 'minor', high: 'major', critical: 'critical' } as const

/** The categories for a review's findings in GitLab's format, which comes from Code Climate. */
const kinds: Readonly<Record<string, string>> = {
  security: 'Security',
  performance: 'Performance',
  compatibility: 'Compatibility',
  maintainability: 'Clarity',
}

/**
 * Renders the findings as GitLab's code quality report (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format). That format requires a
 * path for each finding: a finding without a file gets `.`, which stands for the whole project.
 */
export function writeCodeQuality(report: Report): string {
  const entries = report.findings.map((finding) => {
    const { title, message, ruleId, fingerprint, severity } = finding
    const place = placeIn(report, finding)
    return {
      type: 'issue',
      description: revealed(`${title}: ${message}`).replaceAll('\n', ' '),
      check_name: ruleId,
      fingerprint,
      severity: severities[severity],
      categories: [finding.review === undefined ? 'Security' : (kinds[finding.review.category] ?? 'Bug Risk')],
      location: { path: place?.path ?? '.', lines: { begin: place?.startLine ?? 1, end: place?.endLine ?? 1 } },
    }
  })
  return `${JSON.stringify(distinct(entries), undefined, 2)}\n`
}

/** Removes duplicates: GitLab treats two findings with the same fingerprint as one. */
function distinct<T extends { readonly fingerprint: string }>(entries: readonly T[]): readonly T[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.fingerprint, entry])).values()].toReversed()
}
