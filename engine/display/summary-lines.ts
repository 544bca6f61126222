import type { RunSummary } from '../core/events.ts'
import { judgementWords, recordLines } from '../core/run-record.ts'
import { describeDanger } from '../core/sandbox-status.ts'
import type { Style } from './style.ts'
import { dollars, endings, seconds } from './format-values.ts'
import { landedWell, landedWhole, transactionLines } from '../core/text/transaction-lines.ts'
import { oneLine } from '../core/text/one-line.ts'
import { counted } from '../core/text/counted.ts'

/** Returns why a run failed: how it ended, and what was denied. */
export function failureLines(summary: RunSummary, style: Style): readonly string[] {
  return [...endingLines(summary, style, false), ...(summary.denied.length === 0 ? [] : deniedLines(summary))]
}

function endingLines(summary: RunSummary, { paint }: Pick<Style, 'paint'>, told: boolean): readonly string[] {
  const { error } = summary
  const nothing = (summary.transaction?.files ?? 0) > 0 ? 'done, only directories changed' : 'done, nothing changed'
  const ending = summary.reason === 'done' && summary.result === 'no-change' ? nothing : endings[summary.reason]
  const head = error === undefined ? paint('green', ending) : paint('red', told ? ending : `${ending}: ${error}`)
  return [
    `${head} · ${seconds(summary.durationMs)} · exit code ${summary.exitCode}`,
    ...contradictionLines(summary).map((line) => paint('yellow', line)),
  ]
}

/**
 * Returns the closing lines of a run: how it ended, what changed, what was checked, what was denied and why, and what the run cost. Verbose, it also lists what
 * didn't happen, how often commands ran, and facts about the sandbox, which `agent doctor` and the events state too.
 *
 * @param told whether the reason for a failure has already been shown
 */
export function summaryLines(summary: RunSummary, style: Style, told: boolean): readonly string[] {
  const { usage, filesChanged, denied } = summary
  const { paint, shorten } = style
  const isVerbose = style.detail === 'verbose'
  const refused = denied.length === 0 ? ' · refused: nothing' : ''
  return [
    ...endingLines(summary, style, told),
    ...(filesChanged.length > 0 || isVerbose
      ? [`  files changed: ${filesChanged.length === 0 ? 'none' : listChanges(filesChanged, shorten)}`]
      : []),
    ...notCountedLines(summary),
    ...(summary.inPlace === undefined ? [] : [paint('dim', `  in place: ${summary.inPlace}`)]),
    ...(isVerbose || summary.transaction?.outcome !== 'nothing' || !landedWhole(summary)
      ? transactionLines(summary, shorten).map((line) => paint(landedWell(summary) ? 'dim' : 'yellow', line))
      : []),
    ...laterLines(summary, shorten).map((line) => paint('yellow', line)),
    ...patchNoteLines(summary).map((line) => paint('yellow', line)),
    ...testFileLines(summary),
    ...(isVerbose ? [commandsLine(summary)] : []),
    ...recordedLines(summary, isVerbose).map(([line, isBad]) => (isBad ? paint('yellow', line) : line)),
    ...verifiedLines(summary).map(([line, passed]) => (passed ? line : paint('red', line))),
    ...(denied.length === 0 ? [] : deniedLines(summary)),
    `  tokens: ${usage.input_tokens} in (${usage.cached_input_tokens} cached), ${usage.output_tokens} out · cost: ${dollars(summary.costUsd)}${refused}`,
    ...(isVerbose ? withheldLines(summary) : []),
    ...(summary.dangers ?? []).map((danger) => paint('red', `  dangerous: ${describeDanger(danger)}`)),
    ...(isVerbose ? enforcementLines(summary).map((line) => paint('yellow', line)) : []),
    ...(isVerbose && summary.auditHead !== undefined ? [paint('dim', `  audit head: ${summary.auditHead}`)] : []),
  ]
}

function commandsLine({ commands }: RunSummary): string {
  return `  commands run: ${commands.run}${commands.failed === 0 ? '' : ` (${commands.failed} failed)`}`
}

function enforcementLines({ unenforced = [] }: RunSummary): readonly string[] {
  return unenforced.map((sentence) => `  not enforced here: ${sentence}`)
}

function deniedLines({ denied }: RunSummary): readonly string[] {
  const each = denied.map(({ what, reason }) => `    ${oneLine(what)}: ${reason}`)
  return [`  refused: ${denied.length === 0 ? 'nothing' : denied.length}`, ...each]
}

/** The maximum number of notes about patches that the summary lists. */
const mostPatchNotes = 10

function patchNoteLines({ patchNotes = [] }: RunSummary): readonly string[] {
  const more = patchNotes.length - mostPatchNotes
  return [
    ...patchNotes.slice(0, mostPatchNotes).map((note) => `  patch note: ${oneLine(note)}`),
    ...(more > 0 ? [`  patch notes not listed here: ${more}`] : []),
  ]
}

/** Returns, for each `--verify` command that ran, a line with the result of its last run, and whether it passed. */
function verifiedLines({ verified = [] }: RunSummary): readonly (readonly [line: string, passed: boolean])[] {
  return verified.map(({ command, passed, exit_code: code, attempts, judged: verdict }) => {
    const end = passed || code === 0 ? 'passed' : code === null ? 'failed' : `failed with exit code ${code}`
    const judged = verdict === undefined ? '' : `; ${judgementWords(verdict)}`
    return [`  verify: ${oneLine(command)}: ${end}${attempts === 1 ? '' : ` (run ${attempts} times)`}${judged}`, passed]
  })
}

/**
 * Returns what the record says about tests, commits and pushes, and whether something of it went wrong. Unless everything is wanted, what didn't happen is left out,
 * and so are tests that passed if the run's own checks are listed.
 */
function recordedLines(
  { record, verified = [] }: RunSummary,
  isVerbose: boolean,
): readonly (readonly [line: string, isBad: boolean])[] {
  const lines = record === undefined ? [] : recordLines(record)
  const shown = lines.filter(
    ({ name, isBad, isNone }) => isVerbose || (isNone !== true && (isBad || name !== 'tests' || verified.length === 0)),
  )
  return shown.map(({ name, words, isBad }) => [`  ${name}: ${words}`, isBad])
}

function testFileLines({ record }: RunSummary): readonly string[] {
  const { tests = [] } = record?.files ?? {}
  const more = tests.length - mostNamed
  const names = tests.slice(0, mostNamed).map((path) => path.replaceAll('\n', '⏎'))
  return tests.length === 0
    ? []
    : [`    tests among them: ${[...names, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')}`]
}

/** Lists what the model claimed and the record contradicts, so that people see it before they believe the model's message. */
function contradictionLines({ contradictions = [] }: RunSummary): readonly string[] {
  return contradictions.map(
    ({ claimed, record }) => `    contradicted by the record: ${oneLine(claimed)}: ${oneLine(record)}`,
  )
}

/** The maximum number of files that a list names, such as the list of files that commands wrote. Further files are only counted. */
const mostNamed = 20

function listChanges(changes: RunSummary['filesChanged'], shorten: Style['shorten']): string {
  const byCommands = changes.filter(({ by }) => by === 'command')
  const more = byCommands.length - mostNamed
  const named = [...changes.filter(({ by }) => by === undefined), ...byCommands.slice(0, mostNamed)]
  const words = named.map(
    ({ path, kind, by }) =>
      `${shorten(path).replaceAll('\n', '⏎')} (${kind}${by === undefined ? '' : ' by a command'})`,
  )
  return [...words, ...(more > 0 ? [`and ${more} more by commands`] : [])].join(', ')
}

function notCountedLines({ changes }: RunSummary): readonly string[] {
  return changes?.notCounted === undefined
    ? []
    : [`    files written by commands were not counted: ${changes.notCounted}`]
}

/** Lists changed files that the user should look at before continuing, because other programs on this machine or in CI may run them. */
function laterLines({ changes }: RunSummary, shorten: Style['shorten']): readonly string[] {
  const later = changes?.runsLater ?? []
  if (later.length === 0) return []
  const more = later.length - mostNamed
  const words = later
    .slice(0, mostNamed)
    .map(({ path, program }) => `${shorten(path).replaceAll('\n', '⏎')} (${program})`)
  return [
    `  changed files that other programs may run later: ${[...words, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')}`,
  ]
}

function withheldLines({ withheld }: RunSummary): readonly string[] {
  if (withheld === undefined || withheld.variables === 0) return []
  const { variables, secrets } = withheld
  return [
    `  environment: ${counted(variables, 'variable')} withheld from commands (${secrets} of them ${secrets === 1 ? 'looks like a secret' : 'look like secrets'})`,
  ]
}
