import { recordLines } from '../../core/run-record.ts'
import { dollars, seconds, short } from '../../display/format-values.ts'
import type { Report, Step } from '../report-types.ts'
import { attentionOf, endingOf, lastRun, verifyLines } from '../run-facts.ts'
import { nextCommands } from '../next-commands.ts'
import { fenced, inline } from './escape.ts'
import { counted } from '../../core/text/counted.ts'

/** GitHub's documented limit for a step summary (1 MiB). A longer summary fails to upload. */
const mostBytes = 1024 * 1024
const reserved = 1024
const longestOutput = 1500

/**
 * Renders a report as Markdown for GitHub's step summary, a pull request, or another model. It contains no picture, no raw HTML, and no link but that to a workflow's artifacts. Untrusted text is
 * escaped or put between fences.
 *
 * @param brief whether to leave out the steps. Default: false
 * @param most the limit in bytes. Default: GitHub's 1 MiB
 */
export function renderMarkdown(report: Report, brief = false, most = mostBytes): string {
  const blocks = [...topBlocks(report), ...(brief ? [] : report.steps.flatMap(stepBlocks)), ...nextBlocks(report)]
  const kept: string[] = []
  let bytes = 0
  for (const [at, block] of blocks.entries()) {
    bytes += Buffer.byteLength(block) + 2
    if (bytes > most - reserved) {
      kept.push(`… ${counted(blocks.length - at, 'more part')} left out for lack of space.`)
      break
    }
    kept.push(block)
  }
  return `${kept.join('\n\n')}\n`
}

function topBlocks(report: Report): readonly string[] {
  const run = lastRun(report)
  const { words } = endingOf(run)
  const { end } = run
  const { totals, files } = report
  const attention = attentionOf(report)
  const final = report.steps.findLast(({ kind, agent }) => kind === 'message' && agent === undefined)?.parts[0]?.text
  return [
    `## ${inline(words)}${end === undefined ? '' : ` · exit code ${end.exitCode}`}`,
    ...(end?.message === undefined ? [] : [inline(end.message, 2000)]),
    ...(run.prompt === undefined ? [] : [`**Task**\n\n${fenced(run.prompt.slice(0, 4000))}`]),
    [
      '| | |',
      '| --- | --- |',
      `| Model | ${inline(run.model ?? 'unknown')} |`,
      `| Cost | ${inline(dollars(end?.costUsd))} |`,
      `| Tokens | ${end === undefined ? 'unknown' : `${short(end.inputTokens)} in (${short(end.cachedTokens)} cached), ${short(end.outputTokens)} out`} |`,
      `| Time | ${end?.durationMs === undefined ? 'unknown' : seconds(end.durationMs)} |`,
      `| Commands | ${totals.commands}, ${totals.failedCommands} failed |`,
      `| Refused | ${totals.refused} |`,
    ].join('\n'),
    ...(verifyLines(run).length === 0
      ? []
      : [
          `**Verified**\n\n${verifyLines(run)
            .map(({ command, words }) => `- ${inline(command)}: ${inline(words)}`)
            .join('\n')}`,
        ]),
    ...(end?.record === undefined
      ? []
      : [
          `**From the record**\n\n${recordLines(end.record)
            .map(({ name, words }) => `- ${name}: ${inline(words)}`)
            .join('\n')}`,
        ]),
    ...(run.outside.length === 0
      ? []
      : [`**Outside the sandbox**\n\n${run.outside.map((each) => `- ${inline(each)}`).join('\n')}`]),
    ...(attention.length === 0
      ? []
      : [
          '### What needs attention',
          attention
            .map(
              ({ title, lines, step }) =>
                `- **${inline(title)}**${step === undefined ? '' : ` (step ${step})`}${lines.map((line) => `\n  ${inline(line)}`).join('')}`,
            )
            .join('\n'),
        ]),
    ...(files.length === 0
      ? ['### The change', 'No file was changed.']
      : [
          '### The change',
          files
            .slice(0, 300)
            .map(
              ({ path, kind, added, removed, byCommand }) =>
                `- ${inline(path)} (${inline(kind)}${byCommand ? ' by a command' : `, +${added} −${removed}`})`,
            )
            .join('\n'),
        ]),
    ...(final === undefined ? [] : ['### What the model says', fenced(final.slice(0, 60_000), 'text')]),
  ]
}

function stepBlocks({ number, kind, title, status, outcome, durationMs, verdict, parts }: Step): readonly string[] {
  const said = [
    outcome ?? (status === 'ok' || status === 'note' ? undefined : status),
    durationMs === undefined ? undefined : seconds(durationMs),
  ]
  const head = `**${number}. ${kind}** ${inline(title)}${said
    .filter((each) => each !== undefined)
    .map((each) => ` · ${inline(each)}`)
    .join('')}`
  const judged =
    verdict === undefined || verdict.decision === 'allow'
      ? []
      : [`> ${inline(verdict.reason)}${verdict.rule === undefined ? '' : `, rule ${inline(verdict.rule)}`}`]
  const shown = parts
    .filter(({ label }) => label === 'output' || label === 'error' || label === 'message')
    .map(({ text }) =>
      fenced(text.length > longestOutput ? `${text.slice(0, longestOutput)}\n[... cut here ...]` : text, 'text'),
    )
  return [...(number === 1 ? ['### Timeline'] : []), [head, ...judged, ...shown].join('\n\n')]
}

function nextBlocks(report: Report): readonly string[] {
  const commands = nextCommands(report)
  if (commands.length === 0) return []
  const kept = report.job === undefined ? [] : [`What the workflow kept of this run: ${report.job.artifacts}`]
  return [
    '### What next',
    ...kept,
    fenced(commands.map(({ what, command }) => `# ${what}\n${command}`).join('\n'), 'sh'),
  ]
}
