import { recordLines, type RunRecord } from '../../core/run-record.ts'
import type { Finding, Report } from '../report-types.ts'
import { revealed } from '../text/reveal.ts'
import { endingOf, lastRun } from '../run-facts.ts'
import { placeIn } from './finding-location.ts'
import { isNew } from '../review-findings.ts'
import { counted } from '../../core/text/counted.ts'

const commands = { low: 'notice', medium: 'warning', high: 'error', critical: 'error' } as const
/** How many annotations of each kind GitHub shows for a step of a workflow. GitHub silently drops any others. */
const mostOfAKind = 10
const longest = 2000

/**
 * Renders findings as GitHub's workflow commands (https://docs.github.com/actions/reference/workflow-commands-for-github-actions): how the run ended,
 * if it failed, followed by the new findings, the worst first. The runner executes these commands, so no text may end one command and begin another.
 */
export function writeAnnotations(report: Report): string {
  const run = lastRun(report)
  const { end } = run
  const failed = end === undefined || end.exitCode !== 0
  const ending = failed
    ? [
        `::error title=${property('agent exec')}::${data([endingOf(run).words, end?.message].filter(Boolean).join(': '))}`,
      ]
    : []
  const recorded = end?.record === undefined ? [] : [`::notice title=record::${data(recordWords(end.record))}`]
  const left = new Map<string, number>([
    ['error', mostOfAKind - ending.length],
    ['notice', mostOfAKind - recorded.length],
  ])
  const told = report.findings.filter(isNew)
  const lines = told
    .toSorted((a, b) => rank(b) - rank(a))
    .flatMap((finding) => {
      const command = commands[finding.severity]
      const remaining = left.get(command) ?? mostOfAKind
      left.set(command, remaining - 1)
      return remaining > 0 ? [lineOf(report, finding, command)] : []
    })
  const more = told.length - lines.length
  return [
    ...ending,
    ...recorded,
    ...lines,
    ...(more > 0
      ? [`${counted(more, 'more finding')}. To list all of them, run "agent report SESSION --format sarif".`]
      : []),
    '',
  ].join('\n')
}

function recordWords(record: RunRecord): string {
  return recordLines(record)
    .map(({ name, words }) => `${name}: ${words}`)
    .join('\n')
}

const rank = ({ severity }: Finding): number => ['low', 'medium', 'high', 'critical'].indexOf(severity)

function lineOf(report: Report, finding: Finding, command: string): string {
  const place = placeIn(report, finding)
  const where =
    place === undefined ? [] : [`file=${property(place.path)}`, `line=${place.startLine}`, `endLine=${place.endLine}`]
  return `::${command} ${[...where, `title=${property(finding.title)}`].join(',')}::${data(finding.message)}`
}

/** Escapes text as GitHub's toolkit does (actions/toolkit, packages/core/src/command.ts). */
function data(text: string): string {
  return revealed(text.slice(0, longest)).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text.slice(0, 200)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
