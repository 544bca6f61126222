import type { RunSummary } from '../events.ts'
import { describeDanger } from '../run/circumstances.ts'
import type { Style } from './style.ts'
import { dollars, endings, oneLine, seconds } from './words.ts'

/**
 * The closing lines of a run: what changed, what ran, what was refused and why, what it cost.
 *
 * @param told whether why it failed was told already
 */
export function summaryLines(summary: RunSummary, { paint, shorten }: Style, told: boolean): readonly string[] {
  const { usage, commands, denied, filesChanged, error } = summary
  const failed = commands.failed === 0 ? '' : ` (${commands.failed} failed)`
  const ending = endings[summary.reason]
  const head = error === undefined ? paint('green', ending) : paint('red', told ? ending : `${ending}: ${error}`)
  return [
    `${head} · ${seconds(summary.durationMs)} · exit code ${summary.exitCode}`,
    `  files changed: ${filesChanged.length === 0 ? 'none' : filesChanged.map(({ path, kind }) => `${shorten(path)} (${kind})`).join(', ')}`,
    `  commands run: ${commands.run}${failed}`,
    `  refused: ${denied.length === 0 ? 'nothing' : denied.length}`,
    ...denied.map(({ what, reason }) => `    ${oneLine(what)}: ${reason}`),
    `  tokens: ${usage.input_tokens} in (${usage.cached_input_tokens} cached), ${usage.output_tokens} out · cost: ${dollars(summary.costUsd)}`,
    ...withheldLines(summary),
    ...(summary.dangers ?? []).map((danger) => paint('red', `  dangerous: ${describeDanger(danger)}`)),
    ...(summary.unenforced ?? []).map((sentence) => paint('yellow', `  not enforced here: ${sentence}`)),
    ...(summary.auditHead === undefined ? [] : [paint('dim', `  audit head: ${summary.auditHead}`)]),
  ]
}

function withheldLines({ withheld }: RunSummary): readonly string[] {
  if (withheld === undefined || withheld.variables === 0) return []
  const { variables, secrets } = withheld
  return [`  environment: ${variables} variables withheld from commands, ${secrets} of them taken for secrets`]
}
