import type { AssessmentItem, CommandItem, EventVerdict, Item } from '../core/events.ts'
import { serviceInside } from '../core/named-services.ts'
import { counted } from '../core/text/counted.ts'
import { diffLines } from './coloured-diff.ts'
import type { Paint, Style } from './style.ts'
import { oneLine } from '../core/text/one-line.ts'
import { tellingLine } from '../core/text/telling-line.ts'
import { hanging, seconds } from './format-values.ts'

/** How many of the last lines of a failed command's output are shown, unless all details are wanted. */
const shownOutputLines = 12

/** Formats a completed item as human-readable lines. */
export function itemLines(item: Item, style: Style): readonly string[] {
  const { paint, shorten, detail } = style
  switch (item.type) {
    case 'agent_message':
      return item.text.trim() === '' ? [] : ['', ...item.text.trimEnd().split('\n'), '']
    case 'reasoning':
      return item.text.split('\n').map((line) => paint('dim', `  ${line}`))
    case 'command_execution':
      return commandLines(item, style)
    case 'verification':
      return commandLines({ ...item, command: `verify: ${oneLine(item.command)}` }, style)
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
        ...(item.notes ?? []).map((note) => paint('yellow', `    note: ${oneLine(note)}`)),
        ...diffLines(item.diff ?? '', style),
      ]
    }
    case 'tool_call':
      return toolCallLines(item, style)
    case 'guardian_assessment':
      return assessmentLines(item, paint)
    case 'context_compaction':
      return [
        paint('dim', `~ conversation summarized: about ${item.tokens_before} tokens → ${item.tokens_after ?? '?'}`),
      ]
    case 'mcp_tool_call':
      return mcpCallLines(item, style)
    case 'hook':
      return hookLines(item, style)
    case 'todo_list':
      return item.items.map(({ text, completed, status }) => {
        const line = `  ${completed ? '☑' : status === 'in_progress' ? '▸' : '☐'} ${oneLine(text)}`
        return completed ? paint('dim', line) : line
      })
    case 'plan_mode':
      return planModeLines(item, paint)
    case 'web_search':
      return [paint('dim', `? web: ${oneLine(item.query)}`)]
    case 'service_connection':
      return detail === 'verbose' ? [paint('dim', `· ${connectionWords(item)}`)] : []
    case 'credential_use':
      return detail === 'verbose' ? [paint('dim', `· ${useWords(item)}`)] : []
    case 'review_finding':
      return [findingLine(item, paint)]
    case 'error':
      return hanging(item.message, '✗ ').map((line) => paint('red', line))
    default:
      return item satisfies never
  }
}

function commandLines(
  item: Omit<CommandItem, 'type' | 'call_id' | 'cwd' | 'granted'>,
  { paint, detail }: Style,
): readonly string[] {
  const command = oneLine(item.command)
  if (item.status === 'declined') {
    return [paint('red', `✗ refused: ${command}`), ...verdictLines(item.verdict, paint)]
  }
  const isLost = item.started === true
  const unknown = item.ended_by ?? (isLost ? "started; how it ended isn't known" : 'not started')
  const end = item.exit_code === null ? unknown : `exit ${item.exit_code}`
  const took = `${end}${duration(item.duration_ms)}`
  const whole = item.aggregated_output.trimEnd() === '' ? [] : item.aggregated_output.trimEnd().split('\n')
  const output = (lines: readonly string[]): readonly string[] => lines.map((line) => paint('dim', `    ${line}`))
  const denials = (item.denials ?? []).map(({ subject, rule, certainty, how_to_allow: how }) =>
    paint(
      'yellow',
      `    ${certainty === 'suspected' ? 'perhaps ' : ''}refused by the sandbox: ${subject} (${rule}). ${how}`,
    ),
  )
  if (item.status === 'completed') {
    const shown = detail === 'verbose' ? output(whole) : []
    return [`${paint('green', '✓')} ${command} ${paint('dim', `· ${took}`)}`, ...shown, ...denials]
  }
  const shown = detail === 'verbose' ? output(whole) : shortened(whole).flatMap((part) => cutOr(part, output, paint))
  return [`${paint('red', '✗')} ${command} ${paint('dim', `· ${took}`)}`, ...shown, ...denials]
}

/** A part of an output: lines that are shown, or the number of those that are left out. */
type Part = readonly string[] | number

/** How many lines of a failed command's output are shown from the one that says why it failed. */
const tellingLines = 5

/** The end of a failed command's output. If the line that says why it failed isn't part of it, that line and those after it come first, in place of the first lines. */
function shortened(lines: readonly string[]): readonly Part[] {
  const start = lines.length - shownOutputLines
  if (start <= 0) return [lines]
  const telling = tellingLine(lines)
  if (telling === undefined || telling >= start) return [start, lines.slice(start)]
  const [next, last] = [telling + tellingLines, start + tellingLines]
  // An assertion often puts an empty line before its values.
  return [telling, lines.slice(telling, next).filter((line) => line.trim() !== ''), last - next, lines.slice(last)]
}

function cutOr(part: Part, output: (lines: readonly string[]) => readonly string[], paint: Paint): readonly string[] {
  if (typeof part !== 'number') return output(part)
  return part === 0 ? [] : [paint('dim', `    … ${counted(part, 'line')} …`)]
}

function mcpCallLines(item: Extract<Item, { type: 'mcp_tool_call' }>, { paint }: Style): readonly string[] {
  const name = `${item.server}: ${item.tool}${duration(item.duration_ms)}`
  if (item.verdict !== undefined && item.verdict.decision !== 'allow') {
    return [paint('red', `✗ refused: ${name}`), ...verdictLines(item.verdict, paint)]
  }
  if (item.status === 'completed') return [`${paint('green', '✓')} ${name}`]
  return [`${paint('red', '✗')} ${name}`, ...indent(item.error?.message ?? '', paint)]
}

/** Formats the result of a hook. A hook that completed without a message gets no line. */
function hookLines(
  { event, handler, status, message = '' }: Extract<Item, { type: 'hook' }>,
  { paint }: Style,
): readonly string[] {
  switch (status) {
    case 'completed':
      return message === '' ? [] : hanging(message, '! ').map((line) => paint('yellow', line))
    case 'blocked':
      return [paint('yellow', `! blocked by the ${event} hook ${handler}`), ...indent(message, paint)]
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

/** Formats a change of plan mode, without the plan itself, which is shown in the question to the person or in the run's final message. */
function planModeLines({ state, verdict }: Extract<Item, { type: 'plan_mode' }>, paint: Paint): readonly string[] {
  switch (state) {
    case 'entered':
      return [paint('cyan', '◆ plan mode: nothing can be changed until a plan is approved')]
    case 'left':
      return [paint('cyan', '◆ left plan mode'), ...indent(verdict?.reason ?? '', paint)]
    case 'kept':
    case 'proposed':
      return [
        paint('yellow', '◆ the plan was not approved, and plan mode stays on'),
        ...indent(verdict?.reason ?? '', paint),
      ]
    case 'delivered':
      return [paint('cyan', '◆ nobody is here to approve the plan, so the plan is the result of the run')]
    default:
      return state satisfies never
  }
}

/** Formats a finding of a review in one line. The whole finding is in the final message. */
function findingLine(
  { path, start_line: line, severity, title, known }: Extract<Item, { type: 'review_finding' }>,
  paint: Paint,
): string {
  const where = `${path}:${line}`
  if (known === true) return paint('dim', `· known: ${where} ${oneLine(title)}`)
  return paint(
    severity === 'low' ? 'dim' : severity === 'medium' ? 'yellow' : 'red',
    `! ${severity}: ${where} ${oneLine(title)}`,
  )
}

function connectionWords(item: Extract<Item, { type: 'service_connection' }>): string {
  const { bytes_sent: sent, bytes_received: received, duration_ms: ms, error } = item
  const words = error ?? `${counted(sent, 'byte')} sent, ${counted(received, 'byte')} received in ${seconds(ms)}`
  return `${serviceInside(item)}: ${words}`
}

function useWords(item: Extract<Item, { type: 'credential_use' }>): string {
  const { credential, host, operation, status = 'no answer', duration_ms: ms } = item
  return oneLine(`${credential}: ${operation} (${host}): ${status} in ${seconds(ms)}`)
}

/** Formats a reviewer's answer. The action itself follows as a separate item. */
function assessmentLines(item: AssessmentItem, paint: Paint): readonly string[] {
  const risk = item.risk === undefined ? '' : `, risk ${item.risk}`
  const said = `${item.reviewer}: ${item.outcome ?? 'no answer'}${risk}${duration(item.duration_ms)}`
  const style = item.outcome === 'allow' ? 'green' : 'yellow'
  return [paint(style, `? ${oneLine(item.action)} · ${said}`), ...indent(item.rationale ?? '', paint)]
}

/** Says why something was refused, and by which rule. */
function verdictLines(verdict: EventVerdict | undefined, paint: Paint): readonly string[] {
  if (verdict === undefined) return []
  const rule = verdict.rule === undefined ? [] : [paint('dim', `    rule ${verdict.rule}`)]
  return [...hanging(verdict.reason, '    ').map((line) => paint('red', line)), ...rule]
}

function indent(text: string, paint: Paint): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => paint('dim', `    ${line}`))
}

function duration(ms: number | undefined): string {
  return ms === undefined ? '' : ` in ${seconds(ms)}`
}
