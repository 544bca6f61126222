import { tellingLine } from '../core/text/telling-line.ts'
import type { EndReason } from '../core/exit-codes.ts'
import { judgementWords } from '../core/run-record.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { counted } from '../core/text/counted.ts'
import { endings, seconds } from '../display/format-values.ts'
import { isNew, reviewFindings } from './review-findings.ts'
import type { Finding, Report, ReportRun, Step } from './report-types.ts'

/** How a run ended: `words` for a heading, and the `tone` in which the heading is shown. */
type Ending = { readonly words: string; readonly tone: 'ok' | 'warn' | 'bad' }

/** The run that a report is about, which is the last one. */
export function lastRun({ runs }: Report): ReportRun {
  const last = runs.at(-1)
  if (last === undefined) throw new TypeError('a report must contain a run')
  return last
}

/** Describes how a run ended. */
export function endingOf({ end }: ReportRun): Ending {
  if (end === undefined) return { words: 'Cut off: the run never recorded its end', tone: 'bad' }
  if (end.result === 'no-change' && end.exitCode === 0) return { words: 'Done, and nothing changed', tone: 'warn' }
  if (end.exitCode === 0) return { words: 'Done', tone: end.contradictions.length > 0 ? 'warn' : 'ok' }
  const words = Object.hasOwn(endings, end.reason) ? endings[end.reason as EndReason] : end.reason
  return { words: `${words.charAt(0).toUpperCase()}${words.slice(1)}`, tone: 'bad' }
}

/** A `--verify` command and its last result; `not run` if the agent's run stopped before the command was run. */
type VerifyLine = { readonly command: string; readonly state: 'passed' | 'failed' | 'not run'; readonly words: string }

/** Returns the `--verify` commands of a run, each with its last result. */
export function verifyLines({ end, verify }: ReportRun): readonly VerifyLine[] {
  const ran = end?.verified ?? []
  const told = new Set(ran.map(({ command }) => command))
  return [
    ...ran.map(({ command, passed, exitCode, durationMs, attempts, judged }): VerifyLine => ({
      command,
      state: passed ? 'passed' : 'failed',
      words: [
        passed || exitCode === 0 ? 'passed' : exitCode === undefined ? 'failed' : `failed with exit code ${exitCode}`,
        `in ${seconds(durationMs)}`,
        ...(attempts > 1 ? [`(run ${attempts} times)`] : []),
        ...(judged === undefined ? [] : [`– ${judgementWords(judged)}`]),
      ].join(' '),
    })),
    ...verify
      .filter((command) => !told.has(command))
      .map((command): VerifyLine => ({
        command,
        state: 'not run',
        words: 'not run: the run stopped before verification',
      })),
  ]
}

/** An event or a fact of the run that needs attention. */
type Attention = {
  readonly tone: 'bad' | 'warn'
  readonly title: string
  readonly lines: readonly string[]
  readonly step: number | undefined
}

const mostOfAKind = 50

/** Everything that needs attention, grouped by kind. The most important kinds come first. */
export function attentionOf(report: Report): readonly Attention[] {
  const run = lastRun(report)
  const { steps } = report
  const end = run.end
  return [
    ...(end?.contradictions ?? []).map(({ claimed, record }): Attention => ({
      tone: 'bad',
      title: `The record contradicts the model: “${claimed}”`,
      lines: [record],
      step: undefined,
    })),
    ...limited(reviewFindings(report.findings).filter(isNew).map(finding), 'finding'),
    ...limited(steps.filter(({ status }) => status === 'refused').map(refusal), 'refusal'),
    ...limited(failures(steps), 'failure'),
    ...limited(steps.flatMap(denied), 'denial by the sandbox', 'denials by the sandbox'),
    ...limited(
      steps
        .filter(({ kind }) => kind === 'error')
        .map(({ title, number }) => ({ tone: 'warn', title, lines: [], step: number }) as const),
      'notice',
    ),
    ...limited(steps.flatMap(noted), 'patch with notes', 'patches with notes'),
    ...retryWords(steps),
    ...budgetWords(run),
    ...(end?.runsLater ?? []).slice(0, mostOfAKind).map(({ path, program }): Attention => ({
      tone: 'warn',
      title: `Changed a file that other programs may run later: ${path}`,
      lines: [program],
      step: undefined,
    })),
    ...(end?.notCounted === undefined
      ? []
      : [
          {
            tone: 'warn',
            title: 'Files written by commands were not counted',
            lines: [end.notCounted],
            step: undefined,
          } as const,
        ]),
  ]
}

function limited(list: readonly Attention[], one: string, many = `${one}s`): readonly Attention[] {
  const more = list.length - mostOfAKind
  if (more <= 0) return list
  return [
    ...list.slice(0, mostOfAKind),
    {
      tone: 'warn',
      title: `${counted(more, `more ${one} is`, `more ${many} are`)} in the timeline`,
      lines: [],
      step: undefined,
    },
  ]
}

const longestBody = 300

function finding({ severity, title, message, path = '', startLine, step }: Finding): Attention {
  const [body = ''] = message.trim().split(/\n\s*\n/, 1)
  return {
    tone: severity === 'high' || severity === 'critical' ? 'bad' : 'warn',
    title: `${severity}: ${title}`,
    lines: [`${path}:${startLine ?? 1}`, ...(body === '' ? [] : [truncateMiddle(body, longestBody).text])],
    step,
  }
}

function refusal({ title, verdict, number, kind, parts }: Step): Attention {
  const said = verdict === undefined ? (parts[0]?.text ?? '') : verdict.reason
  return {
    tone: 'bad',
    title: `Refused: ${kind === 'patch' ? `patch to ${title}` : title}`,
    lines: [
      ...(said === '' ? [] : [said]),
      ...(verdict === undefined || verdict.decidedBy === '' ? [] : [`Decided by: ${verdict.decidedBy}`]),
      ...(verdict?.rule === undefined ? [] : [`Rule: ${verdict.rule}`]),
    ],
    step: number,
  }
}

const actingKinds: readonly Step['kind'][] = ['command', 'patch', 'mcp', 'tool', 'verify']

function failures(steps: readonly Step[]): readonly Attention[] {
  const acting = steps.filter(({ kind }) => actingKinds.includes(kind))
  const succeeded = new Map(
    acting.filter(({ status }) => status === 'ok').map(({ title, number, kind }) => [`${kind} ${title}`, number]),
  )
  const failed = acting.filter(({ status }) => status === 'failed' || status === 'open')
  const same = Map.groupBy(failed, ({ title, kind }) => `${kind} ${title}`)
  return failed.flatMap(({ title, status, number, outcome, parts, kind }): readonly Attention[] => {
    const later = succeeded.get(`${kind} ${title}`) ?? 0
    // A failure that a later attempt resolved is shown only in the timeline. Of several identical failures, only the last one is shown here.
    const alike = same.get(`${kind} ${title}`) ?? []
    const times = alike.length
    if (later > number || alike.at(-1)?.number !== number) return []
    const output = parts.findLast(({ format }) => format === 'output' || format === 'plain')?.text ?? ''
    const lines = output.trimEnd().split('\n')
    const end = lines.at(tellingLine(lines) ?? -1)?.trim() ?? ''
    const words =
      status === 'open'
        ? 'Never ended'
        : kind === 'command'
          ? 'Failed'
          : kind === 'verify'
            ? 'Verification failed'
            : `The ${kind === 'patch' ? 'patch did not apply' : 'call failed'}`
    return [
      {
        tone: 'warn',
        title: `${words}${times > 1 ? ` ${times} times` : ''}: ${title}`,
        lines: [[outcome, end.slice(0, 300)].filter(Boolean).join(' · ')].filter(Boolean),
        step: number,
      },
    ]
  })
}

/** The notes of a patch: what was repaired in it, and what deserves attention in how it was applied. */
function noted({ kind, title, number, parts }: Step): readonly Attention[] {
  const notes = kind === 'patch' ? parts.find(({ label }) => label === 'notes')?.text : undefined
  if (notes === undefined || notes === '') return []
  return [{ tone: 'warn', title: `Noted in the patch to ${title}`, lines: notes.split('\n'), step: number }]
}

function denied({ denials, number }: Step): readonly Attention[] {
  return denials.map(({ subject, rule, certain, howToAllow }) => ({
    tone: 'warn',
    title: `${certain ? 'Refused' : 'Perhaps refused'} by the sandbox: ${subject}`,
    lines: [rule, ...(howToAllow === '' ? [] : [`To allow it: ${howToAllow}`])].filter((line) => line !== ''),
    step: number,
  }))
}

/** Describes the requests that had to be repeated, because they take time and are a sign of trouble at the provider. The timeline shows each of them. */
function retryWords(steps: readonly Step[]): readonly Attention[] {
  const retries = steps.filter(({ kind }) => kind === 'retry')
  const first = retries[0]
  if (first === undefined) return []
  const reasons = [...new Set(retries.map(({ title }) => title))]
  const more = reasons.length > 5 ? [`and ${reasons.length - 5} more`] : []
  return [
    {
      tone: 'warn',
      title:
        retries.length === 1
          ? 'A request to the provider was repeated'
          : `Requests to the provider were repeated ${retries.length} times`,
      lines: [...reasons.slice(0, 5), ...more],
      step: first.number,
    },
  ]
}

function budgetWords({ budget, spending, end }: ReportRun): readonly Attention[] {
  const spent = spending.at(-1)
  if (spent === undefined || end?.reason === 'budget') return []
  const shares = [
    ['token', spent.tokens, budget.maxTokens],
    ['cost', spent.costUsd ?? 0, budget.maxCost],
    ['turn', spent.turns, budget.maxTurns],
  ] as const
  return shares.flatMap(([what, used, of]): readonly Attention[] => {
    if (of === undefined || used < of * 0.8) return []
    return [
      {
        tone: 'warn',
        title: `${Math.round((used / of) * 100)}% of the ${what} budget was used`,
        lines: [],
        step: undefined,
      },
    ]
  })
}
