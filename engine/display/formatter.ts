import { styleText } from 'node:util'
import type { Item, RunEvent, RunSummary } from '../core/events.ts'
import { describeService } from '../core/named-services.ts'
import { inOneLine } from '../core/text/harmless.ts'
import { sanitizeForTerminal } from './sanitize-for-terminal.ts'
import { itemLines } from './item-lines.ts'
import { sessionLine } from './session-line.ts'
import type { Detail, Paint, Style } from './style.ts'
import { failureLines, summaryLines } from './summary-lines.ts'
import { notShownWords } from '../core/text/not-shown.ts'
import { outsideWords } from '../core/text/transaction-lines.ts'
import { hanging, progressWords } from './format-values.ts'

/** Options for describing a run to a person. */
export type FormatterOptions = {
  /** Whether colours and other escape sequences may be written. */
  readonly colour: boolean
  readonly detail: Detail
  /**
   * The directory where the program was started, which the hint about resuming the run takes into account. Absent: the directory where the run works.
   */
  readonly cwd?: string
}

/** The text of lines for a person. Each of them remains one line, in which a CI's runner finds no command. */
export function asText(lines: readonly string[]): string {
  return lines.map((line) => `${inOneLine(line)}\n`).join('')
}

/** Turns the events and the outcome of a run into lines for a person. */
type Formatter = {
  readonly paint: Paint
  event(event: RunEvent): readonly string[]
  summary(summary: RunSummary): readonly string[]
}

/** Creates a formatter for one run. It sanitizes text from models, repositories and programs. */
export function createFormatter({ colour, detail, cwd }: FormatterOptions): Formatter {
  let workspace = ''
  let session: readonly string[] = []
  let lastError: string | undefined
  const paint: Paint = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text)
  const shorten = (path: string): string =>
    workspace !== '' && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
  const style: Style = { paint, shorten, detail }
  return {
    paint,
    event: (event) => {
      if (event.type === 'thread.started') {
        workspace = event.config.cwd
        session = event.config.ephemeral === true ? [] : [sessionLine({ id: event.thread_id, workspace }, cwd)]
      }
      if (detail === 'quiet') return []
      if (event.type === 'error') lastError = event.message
      return eventLines(sanitizeForTerminal(event), style)
    },
    summary: (summary) => {
      if (detail === 'quiet')
        return summary.error === undefined ? [] : failureLines(sanitizeForTerminal(summary), style)
      const lines = summaryLines(
        sanitizeForTerminal(summary),
        style,
        lastError !== undefined && lastError === summary.error,
      )
      return [...lines, ...session.map((line) => `  ${sanitizeForTerminal(line)}`)]
    },
  }
}

/** Formats an event as human-readable lines. Returns no lines for an event that people don't need to know about. */
function eventLines(event: RunEvent, style: Style): readonly string[] {
  switch (event.type) {
    case 'thread.started':
      return startLines(event, style)
    case 'item.completed':
      return itemLines(event.item, style)
    case 'error':
      return hanging(event.message, '! ').map((line) => style.paint('yellow', line))
    case 'item.updated':
      return progressLines(event.item, style)
    case 'turn.started':
    case 'item.started':
    case 'turn.completed':
    case 'turn.failed':
      return []
    default:
      return event satisfies never
  }
}

/** Formats the progress of a call to an MCP tool, but only for verbose output. Otherwise only the live view shows progress. */
function progressLines(item: Item, { paint, detail }: Style): readonly string[] {
  if (item.type !== 'mcp_tool_call' || detail !== 'verbose') return []
  return [paint('dim', `  ${[`${item.server}: ${item.tool}`, ...progressWords(item.progress)].join(' · ')}`)]
}

/**
 * Formats the line about a transaction at the start of a run: how the private view of the workspace is made, and what is not part of the transaction.
 */
function transactionStart({
  transaction: facts,
}: Extract<RunEvent, { type: 'thread.started' }>['config']): readonly string[] {
  if (facts === undefined) return []
  const { strategy, outside = [] } = facts
  const apart = outside.length === 0 ? 'the cost of the model' : `${outsideWords(outside)}, and the cost of the model`
  return [`transaction (${strategy}): no change lands before the run ends · not part of the transaction: ${apart}`]
}

function startLines(
  { config, in_place: inPlace }: Extract<RunEvent, { type: 'thread.started' }>,
  { paint, shorten, detail }: Style,
): readonly string[] {
  const { model, cwd, sandbox_mode: mode, sandbox_backend: backend, approval_policy: approval } = config
  const { services = [], credentials = [] } = config
  const notShown = notShownWords(config.not_shown ?? [], cwd)
  const place = inPlace === undefined ? '' : `, in place: ${inPlace}`
  const session = detail === 'verbose' ? [paint('dim', `session ${config.session_dir}`)] : []
  const ignored = (config.ignored_config ?? []).map(({ source, keys, reason }) =>
    paint('yellow', `! ignored: ${shorten(source)}${keys.length === 0 ? '' : `: ${keys.join(', ')}`} (${reason})`),
  )
  return [
    paint('dim', `model ${model} · sandbox ${mode} (${backend}${place}) · approval ${approval} · ${cwd}`),
    ...session,
    ...(services.length === 0 ? [] : [paint('dim', `services: ${services.map(describeService).join(', ')}`)]),
    ...credentials.map(({ name, hosts, allow }) =>
      paint('dim', `credential ${name} for ${hosts.join(', ')}: ${allow.length === 0 ? 'nothing' : allow.join(', ')}`),
    ),
    ...transactionStart(config).map((line) => paint('dim', line)),
    ...(notShown === undefined ? [] : [paint('dim', inOneLine(notShown))]),
    ...ignored,
    ...(config.denies_not_enforced ?? []).map(({ deny, why }) => paint('yellow', `! ${shorten(deny)}: ${why}`)),
  ]
}
