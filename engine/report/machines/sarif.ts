import { fingerprintName } from '../../review/fingerprint-name.ts'
import type { Finding, Report, ReviewedFinding } from '../report-types.ts'
import { revealed } from '../text/reveal.ts'
import { lastRun } from '../run-facts.ts'
import { lineOf, placeIn } from './finding-location.ts'

const levels = { low: 'note', medium: 'warning', high: 'error', critical: 'error' } as const
/** The scores by which GitHub ranks security results. */
const securitySeverities = { low: '3.0', medium: '5.5', high: '8.0', critical: '9.5' } as const

/**
 * Renders the findings as SARIF 2.1.0 (OASIS). A finding has the same fingerprint in every run, so that programs that read the file report the
 * finding only once.
 */
export function writeSarif(report: Report): string {
  const { findings } = report
  const rules = [...new Map(findings.map((finding) => [finding.ruleId, finding])).values()]
  const run = lastRun(report)
  const log = {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Portcullis',
            informationUri: 'https://github.com/portcullis-dev/portcullis',
            ...(run.program === undefined ? {} : { semanticVersion: run.program }),
            rules: rules.map(({ ruleId, severity }) => ({
              id: ruleId,
              shortDescription: { text: describeRule(ruleId) },
              defaultConfiguration: { level: levels[severity] },
              properties: { 'security-severity': securitySeverities[severity] },
            })),
          },
        },
        automationDetails: { id: 'portcullis/' },
        ...(run.end?.record === undefined ? {} : { properties: { record: run.end.record } }),
        invocations: [
          {
            executionSuccessful: run.end?.exitCode === 0,
            ...(run.end === undefined ? {} : { exitCode: run.end.exitCode }),
          },
        ],
        results: findings.map((finding) => resultOf(report, finding, rules)),
      },
    ],
  }
  return `${JSON.stringify(log, undefined, 2)}\n`
}

function resultOf(report: Report, finding: Finding, rules: readonly Finding[]): object {
  const { ruleId, title, message, severity, fingerprint } = finding
  const place = placeIn(report, finding)
  return {
    ruleId,
    ruleIndex: rules.findIndex((rule) => rule.ruleId === ruleId),
    level: levels[severity],
    message: { text: revealed(`${title}\n${message}`) },
    locations:
      place === undefined
        ? []
        : [
            {
              physicalLocation: {
                artifactLocation: artifact(place.path),
                region: { startLine: place.startLine, endLine: place.endLine },
              },
            },
          ],
    // GitHub matches findings by `primaryLocationLineHash`.
    partialFingerprints: { [fingerprintName]: fingerprint, primaryLocationLineHash: fingerprint },
    ...(finding.review === undefined ? {} : ofReview(finding.review, place)),
  }
}

/**
 * Renders the properties that only a review's finding has. Findings that were already known are included, because a finding that is missing from the
 * report counts as fixed.
 */
function ofReview(review: ReviewedFinding, place: ReturnType<typeof placeIn>): object {
  const { known, confidence, linePrints, replacement } = review
  return {
    baselineState: known ? 'unchanged' : 'new',
    rank: Math.min(100, Math.max(0, Math.round(confidence * 100))),
    properties: { linePrints },
    ...(replacement === undefined || place === undefined
      ? {}
      : {
          fixes: [
            {
              artifactChanges: [
                {
                  artifactLocation: artifact(place.path),
                  replacements: [
                    {
                      // A region that contains whole lines ends at the start of the line after the last one.
                      deletedRegion: {
                        startLine: lineOf(replacement.startLine),
                        startColumn: 1,
                        endLine: lineOf(Math.max(replacement.startLine, replacement.endLine)) + 1,
                        endColumn: 1,
                      },
                      insertedContent: { text: replacement.text },
                    },
                  ],
                },
              ],
            },
          ],
        }),
  }
}

function artifact(path: string): object {
  return { uri: path.split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' }
}

/** Describes the rule with this id, to which a finding refers. */
function describeRule(ruleId: string): string {
  const [group, name = ''] = ruleId.split('/')
  switch (group) {
    case 'guardian':
      return `The Guardian refused a call (${name})`
    case 'sandbox':
      return `The sandbox refused an operation (${name})`
    case 'judge':
      return `The change weakens or rewrites what it is judged by (${name})`
    case 'claim':
      return 'The record of the run contradicts a fact that the model claimed'
    default:
      return `A finding of a review (${ruleId})`
  }
}
