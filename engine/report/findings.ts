import { createHash } from 'node:crypto'
import { describeDecision } from '../run/judge/verdict.ts'
import type { Finding, ReportRun, Step } from './report-types.ts'

const mostFindings = 1000

/**
 * Collects findings: the findings of a review, denials by the Guardian, denials by the sandbox, what the judge of a change has against it, and facts that the
 * model claimed but the record contradicts.
 */
export function findingsOf(): {
  readonly see: (step: Step) => void
  readonly list: (run: ReportRun | undefined) => readonly Finding[]
} {
  const found: Finding[] = []
  const add = (finding: Omit<Finding, 'fingerprint'>): void => {
    if (found.length < mostFindings) found.push({ ...finding, fingerprint: fingerprintOf(finding) })
  }
  return {
    see: ({ number, title, verdict, denials, status, finding }) => {
      if (finding !== undefined && found.length < mostFindings) found.push({ ...finding, step: number })
      if (status === 'refused' && verdict !== undefined) {
        const { path, line } = placeOf(verdict.rule)
        const rule = verdict.rule === undefined ? '' : ` Rule: ${verdict.rule}.`
        add({
          ...{
            ruleId: `guardian/${verdict.decidedBy === '' ? 'refusal' : verdict.decidedBy}`,
            severity: 'medium',
            step: number,
          },
          ...{ title: `Refused: ${title}`, message: `${verdict.reason}${rule}`, path, startLine: line, endLine: line },
        })
      }
      for (const denial of denials) {
        const doubt = denial.certain ? '' : 'Perhaps '
        add({
          ...{ ruleId: `sandbox/${denial.kind}`, severity: denial.certain ? 'medium' : 'low', step: number },
          title: `${doubt}${doubt === '' ? 'Refused' : 'refused'} by the sandbox: ${denial.subject}`,
          message: `${denial.rule}. ${denial.howToAllow}`,
          ...{ path: undefined, startLine: undefined, endLine: undefined },
        })
      }
    },
    list: (run) => {
      for (const { judged } of run?.end?.record?.verified ?? []) {
        for (const each of judged?.findings ?? []) {
          const [message] = describeDecision({ verdict: judged?.verdict ?? 'kept', findings: [each] })
          if (message === undefined) continue
          const [ruleId, severity] = [`judge/${each.kind}`, each.kind === 'rewritten' ? 'medium' : 'high'] as const
          const path = each.subject.includes(' > ') ? undefined : each.subject
          const title = `The change is ${judged?.verdict ?? ''}`
          add({ ruleId, severity, title, message, path, step: undefined, startLine: undefined, endLine: undefined })
        }
      }
      for (const { claimed, record } of run?.end?.contradictions ?? []) {
        add({
          ...{
            ruleId: 'claim/contradicted',
            severity: 'high',
            step: undefined,
            title: `Contradicted by the record: ${claimed}`,
            message: record,
          },
          ...{ path: undefined, startLine: undefined, endLine: undefined },
        })
      }
      return found
    },
  }
}

/** The fingerprint of a finding. It contains neither a counter nor a timestamp, so the same finding in another run has the same fingerprint. */
function fingerprintOf({ ruleId, title, path, message }: Omit<Finding, 'fingerprint'>): string {
  return createHash('sha256')
    .update([ruleId, path ?? '', title, message].join('\0'))
    .digest('hex')
    .slice(0, 32)
}

/** Reads the location with which a rule begins: `FILE:LINE …`. */
function placeOf(rule: string | undefined): { readonly path: string | undefined; readonly line: number | undefined } {
  const place = rule?.split(' ', 1)[0] ?? ''
  const colon = place.lastIndexOf(':')
  const line = Number(place.slice(colon + 1))
  if (colon <= 0 || !Number.isSafeInteger(line) || line <= 0) return { path: undefined, line: undefined }
  return { path: place.slice(0, colon), line }
}
