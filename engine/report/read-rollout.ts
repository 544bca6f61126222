import { oneLine } from '../core/text/one-line.ts'
import { fieldsOf, textOf } from './fields.ts'
import type { Part, StepKind, StepStatus } from './report-types.ts'
import type { StepDraft } from './report-step.ts'

/**
 * Turns the lines of a rollout into steps: messages and calls, without the Guardian's decisions. This function is needed for old sessions, which
 * stored no events.
 */
export function rolloutItems(values: readonly unknown[]): {
  readonly items: readonly StepDraft[]
  readonly prompt: string | undefined
} {
  let prompt: string | undefined
  const items = values.map(fieldsOf).flatMap((item): readonly StepDraft[] => {
    const text = textOf(item['text']) ?? ''
    switch (item['type']) {
      case 'message':
        if (item['role'] === 'user') prompt ??= text
        return item['role'] === 'assistant'
          ? [draft('message', 'note', text, [{ label: 'message', text, format: 'markdown' }])]
          : []
      case 'reasoning':
        return text.trim() === ''
          ? []
          : [draft('reasoning', 'note', text, [{ label: 'reasoning', text, format: 'markdown' }])]
      case 'tool_call': {
        const call = fieldsOf(item['call'])
        const input = textOf(call['input']) ?? ''
        return [
          draft('tool', 'ok', `${textOf(call['name']) ?? ''} ${input}`, [
            { label: 'input', text: input, format: 'json' },
          ]),
        ]
      }
      case 'tool_result': {
        const output = textOf(item['output']) ?? ''
        const status = item['ok'] === false ? 'failed' : 'ok'
        return [draft('tool', status, `result: ${output}`, [{ label: 'output', text: output, format: 'output' }])]
      }
      default:
        return []
    }
  })
  return { items, prompt }
}

function draft(kind: StepKind, status: StepStatus, title: string, parts: readonly Part[]): StepDraft {
  return {
    ...{ kind, status, parts, title: oneLine(title.slice(0, 400)), agent: undefined, outcome: undefined },
    ...{ durationMs: undefined, verdict: undefined, denials: [], granted: [], files: [] },
  }
}
