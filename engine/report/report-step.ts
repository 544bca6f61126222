import { oneLine } from '../core/text/one-line.ts'
import { fieldsOf, listOf, numberOf, shortTextOf, shortTextsOf, textOf, type Fields } from './fields.ts'
import { reviewFindingOf } from './review-findings.ts'
import type { Part, Step, StepDenial, StepKind, StepStatus, StepVerdict } from './report-types.ts'

/** A step before its number, time and usage are added. */
export type StepDraft = Omit<Step, 'number' | 'at' | 'spent'>

const kinds: Readonly<Record<string, StepKind>> = {
  agent_message: 'message',
  reasoning: 'reasoning',
  command_execution: 'command',
  file_change: 'patch',
  tool_call: 'tool',
  mcp_tool_call: 'mcp',
  guardian_assessment: 'review',
  context_compaction: 'compaction',
  hook: 'hook',
  todo_list: 'todo',
  plan_mode: 'plan',
  web_search: 'search',
  verification: 'verify',
  review_finding: 'finding',
  error: 'error',
}

/**
 * Turns an item of the event stream into a step; undefined if a report shows no items of this type. A field that is missing or has the wrong type
 * gets a default, such as an empty text or undefined.
 */
export function stepOf(value: unknown): StepDraft | undefined {
  const item = fieldsOf(value)
  const kind = kinds[textOf(item['type']) ?? '']
  if (kind === undefined) return undefined
  const verdict = verdictOf(item['verdict'])
  const status = statusOf(item, verdict)
  return {
    kind,
    agent: shortTextOf(item['agent_id']),
    title: titleOf(kind, item),
    status: isNote(kind) && status === 'ok' ? 'note' : status,
    outcome: outcomeOf(kind, item),
    durationMs: numberOf(item['duration_ms']),
    parts: partsOf(kind, item).filter(({ text }) => text.trim() !== ''),
    verdict,
    denials: listOf(item['denials']).map(denialOf),
    granted: shortTextsOf(item['granted']),
    files: listOf(item['changes']).flatMap((each) => {
      const { path, kind: change } = fieldsOf(each)
      return typeof path === 'string' ? [{ path, kind: textOf(change) ?? 'update' }] : []
    }),
    ...(kind === 'finding' ? { finding: reviewFindingOf(item) } : {}),
  }
}

/**
 * Turns the notice of a repeated request to the provider into a step. The notice is an error event that doesn't end the run, because clients written for Codex
 * expect that form.
 */
export function retryOf({ message }: Fields): StepDraft | undefined {
  const text = textOf(message) ?? ''
  if (!text.startsWith('Reconnecting... ')) return undefined
  return {
    ...{ kind: 'retry', agent: undefined, title: firstLine(text), status: 'note', outcome: undefined },
    ...{ durationMs: undefined, parts: [], verdict: undefined, denials: [], granted: [], files: [] },
  }
}

const isNote = (kind: StepKind): boolean => !acting.includes(kind)
const acting: readonly StepKind[] = ['command', 'patch', 'tool', 'mcp', 'verify']

function verdictOf(value: unknown): StepVerdict | undefined {
  const { decision, decided_by: decidedBy, reason, rule } = fieldsOf(value)
  if (typeof decision !== 'string') return undefined
  return {
    decision: shortTextOf(decision) ?? '',
    decidedBy: shortTextOf(decidedBy) ?? '',
    reason: shortTextOf(reason) ?? '',
    rule: shortTextOf(rule),
  }
}

function denialOf(value: unknown): StepDenial {
  const fields = fieldsOf(value)
  return {
    kind: shortTextOf(fields['kind']) ?? '',
    subject: shortTextOf(fields['subject']) ?? '',
    rule: shortTextOf(fields['rule']) ?? '',
    certain: fields['certainty'] !== 'suspected',
    howToAllow: shortTextOf(fields['how_to_allow']) ?? '',
  }
}

function statusOf(item: Fields, verdict: StepVerdict | undefined): StepStatus {
  if (item['type'] === 'error') return 'failed'
  if (verdict !== undefined && verdict.decision !== 'allow') return 'refused'
  switch (item['status']) {
    case 'failed':
      return 'failed'
    case 'declined':
    case 'blocked':
      return 'refused'
    case 'in_progress':
      return 'open'
    default:
      return 'ok'
  }
}

function titleOf(kind: StepKind, item: Fields): string {
  const text = (name: string): string => textOf(item[name]) ?? ''
  switch (kind) {
    case 'message':
    case 'reasoning':
      return firstLine(text('text'))
    case 'command':
    case 'verify':
      return oneLine(text('command').slice(0, 4000))
    case 'patch':
      return listOf(item['changes'])
        .map((each) => textOf(fieldsOf(each)['path']) ?? '')
        .join(', ')
    case 'tool':
      return oneLine(`${text('tool')} ${text('input').slice(0, 400)}`)
    case 'mcp':
      return `${text('server')}: ${text('tool')}`
    case 'review':
      return `${text('reviewer')} was asked: ${oneLine(text('action').slice(0, 400))}`
    case 'compaction':
      return `conversation compacted: about ${numberOf(item['tokens_before']) ?? '?'} tokens → ${numberOf(item['tokens_after']) ?? '?'}`
    case 'hook':
      return `${text('event')} hook ${oneLine(text('handler').slice(0, 400))}`
    case 'todo': {
      const items = listOf(item['items']).map(fieldsOf)
      return `plan: ${items.filter(({ completed }) => completed === true).length} of ${items.length} done`
    }
    case 'plan':
      return `plan mode: ${text('state')}`
    case 'search':
      return `web search: ${oneLine(text('query').slice(0, 400))}`
    case 'finding':
      return `${text('path')}:${numberOf(item['start_line']) ?? '?'} ${oneLine(text('title').slice(0, 400))}`
    case 'retry':
    case 'error':
      return firstLine(text('message'))
    default:
      return kind satisfies never
  }
}

function outcomeOf(kind: StepKind, item: Fields): string | undefined {
  if (kind === 'command' || kind === 'verify') {
    const code = numberOf(item['exit_code'])
    if (code !== undefined) return `exit ${code}`
    return shortTextOf(item['ended_by'])
  }
  if (kind === 'finding') return item['known'] === true ? 'known' : shortTextOf(item['severity'])
  return kind === 'review' ? shortTextOf(item['outcome']) : undefined
}

function partsOf(kind: StepKind, item: Fields): readonly Part[] {
  const part = (label: string, name: string, format: Part['format'], whole?: string): readonly Part[] => {
    const text = textOf(item[name])
    return text === undefined ? [] : [{ label, text, format, whole: whole ?? shortTextOf(item['whole_file']) }]
  }
  switch (kind) {
    case 'message':
      return part('message', 'text', 'markdown')
    case 'reasoning':
      return part('reasoning', 'text', 'markdown')
    case 'command':
    case 'verify':
      return [
        ...part('command', 'command', 'shell'),
        ...part('output', 'aggregated_output', 'output', shortTextOf(item['output_file'])),
      ]
    case 'patch':
      return [
        ...part('error', 'error', 'plain'),
        { label: 'notes', text: shortTextsOf(item['notes']).join('\n'), format: 'plain' },
        ...part('diff', 'diff', 'diff'),
      ]
    case 'tool':
      return [
        ...part('input', 'input', 'json'),
        ...part('output', 'output', 'output'),
        ...part('error', 'error', 'plain'),
      ]
    case 'mcp':
      return [
        { label: 'arguments', text: asJson(item['arguments']), format: 'json' },
        { label: 'result', text: mcpText(item['result']), format: 'output' },
        { label: 'error', text: textOf(fieldsOf(item['error'])['message']) ?? '', format: 'plain' },
      ]
    case 'review':
      return [...part('asked because', 'asked_because', 'plain'), ...part('answer', 'rationale', 'plain')]
    case 'compaction':
      return part('summary', 'summary', 'markdown')
    case 'hook':
      return part('message', 'message', 'output')
    case 'todo':
      return [{ label: 'plan', text: todoText(item['items']), format: 'plain' }]
    case 'plan':
      return part('plan', 'plan', 'markdown')
    case 'search':
      return [{ label: 'action', text: asJson(item['action']), format: 'json' }]
    case 'finding':
      return [...part('message', 'body', 'markdown'), ...part('suggestion', 'suggestion', 'plain')]
    case 'retry':
    case 'error':
      return part('message', 'message', 'plain')
    default:
      return kind satisfies never
  }
}

function firstLine(text: string): string {
  const start = text.trimStart().slice(0, 400)
  return oneLine(start.split('\n', 1)[0] ?? '')
}

function asJson(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

function mcpText(value: unknown): string {
  const texts = listOf(fieldsOf(value)['content']).map((each) => textOf(fieldsOf(each)['text']) ?? asJson(each))
  return texts.join('\n')
}

function todoText(value: unknown): string {
  return listOf(value)
    .map(fieldsOf)
    .map(({ text, completed, status }) => {
      const mark = completed === true ? '☑' : status === 'in_progress' ? '▸' : '☐'
      return `${mark} ${textOf(text) ?? ''}`
    })
    .join('\n')
}
