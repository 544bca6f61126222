import { styleText } from 'node:util'
import type { AssessmentItem, EventVerdict, Item, RunEvent, RunSummary } from '../events.ts'

/** Styles a piece of text, or leaves it as it is where colour is off. */
type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

/** How things are put to a person. */
type Style = {
  readonly paint: Paint
  /** A path as short as it can be said: relative within the workspace. */
  readonly shorten: (path: string) => string
}

/** Puts a run into words for a person, line by line. */
type Teller = {
  readonly paint: Paint
  event(event: RunEvent): readonly string[]
  summary(summary: RunSummary): readonly string[]
}

/** @param colour whether escape sequences may be written at all */
export function createTeller(colour: boolean): Teller {
  let workspace = ''
  const paint: Paint = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text)
  const shorten = (path: string): string =>
    workspace !== '' && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
  const style = { paint, shorten }
  return {
    paint,
    event: (event) => {
      if (event.type === 'thread.started') workspace = event.config.cwd
      return eventLines(event, style)
    },
    summary: (summary) => summaryLines(summary, style),
  }
}

/** How many lines of a failed command's output are shown. */
const shownOutputLines = 12

/** What a person reads about an event: no line for those that need none. */
function eventLines(event: RunEvent, style: Style): readonly string[] {
  const { paint } = style
  switch (event.type) {
    case 'thread.started': {
      const { model, cwd, sandbox_mode, sandbox_backend, approval_policy, ignored_config: ignored = [] } = event.config
      return [
        paint(
          'dim',
          `model ${model} · sandbox ${sandbox_mode} (${sandbox_backend}) · approval ${approval_policy} · ${cwd}`,
        ),
        ...ignored.map(({ source, keys, reason }) =>
          paint(
            'yellow',
            `! ignored: ${style.shorten(source)}${keys.length === 0 ? '' : `: ${keys.join(', ')}`} (${reason})`,
          ),
        ),
      ]
    }
    case 'item.completed':
      return itemLines(event.item, style)
    case 'error':
      return [paint('yellow', `! ${event.message}`)]
    case 'turn.started':
    case 'item.started':
    case 'item.updated':
    case 'turn.completed':
    case 'turn.failed':
      return []
    default:
      return event satisfies never
  }
}

function itemLines(item: Item, style: Style): readonly string[] {
  const { paint, shorten } = style
  switch (item.type) {
    case 'agent_message':
      return item.text.trim() === '' ? [] : ['', ...item.text.trimEnd().split('\n'), '']
    case 'reasoning':
      return item.text.split('\n').map((line) => paint('dim', `  ${line}`))
    case 'command_execution':
      return commandLines(item, style)
    case 'file_change': {
      const files = item.changes.map(({ path, kind }) => `    ${kind} ${shorten(path)}`)
      if (item.verdict !== undefined && item.verdict.decision !== 'allow') {
        return [paint('red', '✗ patch refused'), ...files, ...verdictLines(item.verdict, paint)]
      }
      if (item.status === 'failed') {
        return [paint('red', '✗ patch did not apply'), ...files, ...indent(item.error ?? '', paint)]
      }
      return [
        paint('green', `✓ patch applied${duration(item.duration_ms)}`),
        ...files,
        ...diffLines(item.diff ?? '', paint),
      ]
    }
    case 'tool_call':
      return toolCallLines(item, style)
    case 'guardian_assessment':
      return assessmentLines(item, paint)
    case 'context_compaction':
      return [
        paint('dim', `~ conversation summed up: about ${item.tokens_before} tokens → ${item.tokens_after ?? '?'}`),
      ]
    case 'mcp_tool_call':
      return mcpCallLines(item, style)
    case 'hook':
      return hookLines(item, style)
    case 'error':
      return [paint('red', `✗ ${item.message}`)]
    default:
      return item satisfies never
  }
}

function commandLines(item: Extract<Item, { type: 'command_execution' }>, { paint }: Style): readonly string[] {
  const command = oneLine(item.command)
  if (item.status === 'declined') {
    return [paint('red', `✗ refused: ${command}`), ...verdictLines(item.verdict, paint)]
  }
  const end = item.exit_code === null ? (item.ended_by ?? 'not started') : `exit ${item.exit_code}`
  const took = `${end}${duration(item.duration_ms)}`
  const output = item.aggregated_output.trimEnd().split('\n')
  const shown = output.slice(-shownOutputLines).map((line) => paint('dim', `    ${line}`))
  const denials = (item.denials ?? []).map(({ subject, rule, certainty, how_to_allow: how }) =>
    paint(
      'yellow',
      `    ${certainty === 'suspected' ? 'perhaps ' : ''}refused by the sandbox: ${subject} (${rule}). ${how}`,
    ),
  )
  if (item.status === 'completed') return [`${paint('green', '✓')} ${command} ${paint('dim', `· ${took}`)}`, ...denials]
  return [`${paint('red', '✗')} ${command} ${paint('dim', `· ${took}`)}`, ...shown, ...denials]
}

function mcpCallLines(item: Extract<Item, { type: 'mcp_tool_call' }>, { paint }: Style): readonly string[] {
  const name = `${item.server}: ${item.tool}${duration(item.duration_ms)}`
  if (item.verdict !== undefined && item.verdict.decision !== 'allow') {
    return [paint('red', `✗ refused: ${name}`), ...verdictLines(item.verdict, paint)]
  }
  if (item.status === 'completed') return [`${paint('green', '✓')} ${name}`]
  return [`${paint('red', '✗')} ${name}`, ...indent(item.error?.message ?? '', paint)]
}

/** A hook that did its work in silence needs no line. */
function hookLines(
  { event, handler, status, message = '' }: Extract<Item, { type: 'hook' }>,
  { paint }: Style,
): readonly string[] {
  switch (status) {
    case 'completed':
      return []
    case 'blocked':
      return [paint('yellow', `! the ${event} hook ${handler} said no`), ...indent(message, paint)]
    case 'failed':
      return [paint('red', `✗ the ${event} hook ${handler} failed`), ...indent(message, paint)]
    default:
      return status satisfies never
  }
}

function toolCallLines(item: Extract<Item, { type: 'tool_call' }>, { paint }: Style): readonly string[] {
  const call = oneLine(`${item.tool} ${item.input}`)
  if (item.status === 'completed') {
    return [`${paint('green', '✓')} ${call} ${paint('dim', `·${duration(item.duration_ms)}`)}`]
  }
  if (item.verdict !== undefined && item.verdict.decision !== 'allow') {
    return [paint('red', `✗ refused: ${call}`), ...verdictLines(item.verdict, paint)]
  }
  return [paint('red', `✗ ${call}`), ...indent(item.error ?? '', paint)]
}

/** What a reviewer said. The action itself follows as its own item. */
function assessmentLines(item: AssessmentItem, paint: Paint): readonly string[] {
  const risk = item.risk === undefined ? '' : `, risk ${item.risk}`
  const said = `${item.reviewer}: ${item.outcome ?? 'no answer'}${risk}${duration(item.duration_ms)}`
  const style = item.outcome === 'allow' ? 'green' : 'yellow'
  return [paint(style, `? ${oneLine(item.action)} · ${said}`), ...indent(item.rationale ?? '', paint)]
}

/** Why something was refused, and by which rule. */
function verdictLines(verdict: EventVerdict | undefined, paint: Paint): readonly string[] {
  if (verdict === undefined) return []
  const rule = verdict.rule === undefined ? [] : [paint('dim', `    rule ${verdict.rule}`)]
  return [paint('red', `    ${verdict.reason}`), ...rule]
}

/** A command as it fits one line: the shell around it left out, the rest of a script cut. */
export function oneLine(command: string): string {
  const script = /^\/bin\/bash -l?c (?:'(?<quoted>[^]*)'|(?<bare>\S+))$/.exec(command)?.groups
  const text = script?.['quoted']?.replaceAll(`'\\''`, "'") ?? script?.['bare'] ?? command
  const flat = text.replaceAll(/\s*\n\s*/g, ' ⏎ ')
  return flat.length > 120 ? `${flat.slice(0, 119)}…` : flat
}

function indent(text: string, paint: Paint): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => paint('dim', `    ${line}`))
}

/** A unified diff, coloured as people know it. */
function diffLines(diff: string, paint: Paint): readonly string[] {
  const styles = { '+': 'green', '-': 'red', '@': 'cyan' } as const
  const lines = diff.trimEnd() === '' ? [] : diff.trimEnd().split('\n')
  return lines.map((line) => {
    const style = styles[line[0] as keyof typeof styles] as 'green' | 'red' | 'cyan' | undefined
    return `    ${style === undefined ? paint('dim', line) : paint(style, line)}`
  })
}

function duration(ms: number | undefined): string {
  return ms === undefined ? '' : ` in ${seconds(ms)}`
}

/** Milliseconds for a person. */
export function seconds(ms: number): string {
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}

/** The closing lines of a run: what changed, what ran, what was refused and why, what it cost. */
function summaryLines(summary: RunSummary, { paint, shorten }: Style): readonly string[] {
  const { usage, commands, denied, filesChanged } = summary
  const failed = commands.failed === 0 ? '' : ` (${commands.failed} failed)`
  const head =
    summary.error === undefined ? paint('green', 'done') : paint('red', `${summary.reason}: ${summary.error}`)
  return [
    `${head} · ${seconds(summary.durationMs)} · exit code ${summary.exitCode}`,
    `  files changed: ${filesChanged.length === 0 ? 'none' : filesChanged.map(({ path, kind }) => `${shorten(path)} (${kind})`).join(', ')}`,
    `  commands run: ${commands.run}${failed}`,
    `  refused: ${denied.length === 0 ? 'nothing' : denied.length}`,
    ...denied.map(({ what, reason }) => `    ${oneLine(what)}: ${reason}`),
    `  tokens: ${usage.input_tokens} in (${usage.cached_input_tokens} cached), ${usage.output_tokens} out · cost: ${dollars(summary.costUsd)}`,
    ...(summary.unenforced ?? []).map((sentence) => paint('yellow', `  not enforced here: ${sentence}`)),
    ...(summary.auditHead === undefined ? [] : [paint('dim', `  audit head: ${summary.auditHead}`)]),
  ]
}

/** An amount for a person: cents where it is large, four significant digits where it is small. */
function dollars(amount: number | undefined): string {
  if (amount === undefined) return 'unknown'
  return `$${amount >= 1 ? amount.toFixed(2) : Number(amount.toPrecision(4))}`
}
