import type { HistoryItem, ToolCall, Usage } from '../core/model.ts'
import { UserError } from '../core/user-error.ts'
import type { ReadRollout } from './rollout.ts'
import { counted } from '../core/text/counted.ts'

/** A step of a session: a response of the model, and the results of its calls. Steps are numbered from 1. */
export type Step = {
  readonly number: number
  /** The messages to the model since the previous step: prompts, and messages from the run itself. */
  readonly told: readonly HistoryItem[]
  /** The model's response. */
  readonly items: readonly HistoryItem[]
  readonly calls: readonly ToolCall[]
  readonly results: readonly ToolResult[]
  /** The tokens that the response used; undefined for a step that was copied from another session, because that session has already counted them. */
  readonly usage: Usage | undefined
  /** The cost in US dollars; undefined if the price was not known, or if the step was copied. */
  readonly costUsd: number | undefined
  /** The number of items in the whole conversation up to the end of this step, results included. */
  readonly end: number
}

type ToolResult = Extract<HistoryItem, { type: 'tool_result' }>

/** The steps of a session, in order. */
export function stepsOf({ entries }: Pick<ReadRollout, 'entries'>): readonly Step[] {
  const steps: Building[] = []
  let told: HistoryItem[] = []
  let end = 0
  let isOpen = false
  for (const { items, usage, costUsd } of entries) {
    if (usage !== undefined) isOpen = false
    for (const item of items) {
      end++
      const last = steps.at(-1)
      if (item.type === 'tool_result') {
        last?.results.push(item)
        isOpen = false
      } else if (item.type === 'message' && item.role !== 'assistant') {
        told.push(item)
        isOpen = false
        continue
      } else if (isOpen && last !== undefined) {
        last.items.push(item)
      } else {
        steps.push({ told, items: [item], results: [], usage, costUsd, end })
        told = []
        isOpen = true
      }
      const current = steps.at(-1)
      if (current !== undefined) current.end = end
    }
    if (usage !== undefined) isOpen = false
  }
  return steps.map((step, at) => ({
    ...step,
    number: at + 1,
    calls: step.items.flatMap((item) => (item.type === 'tool_call' ? [item.call] : [])),
  }))
}

/**
 * Returns a session whose conversation ends after a step.
 *
 * @throws UserError `usage` if the session has no such step
 */
export function cutAfter(rollout: ReadRollout, number: number): ReadRollout {
  const steps = stepsOf(rollout)
  const step = steps[number - 1]
  if (step === undefined) {
    const { thread_id: id } = rollout.session
    const count = counted(steps.length, 'step')
    throw new UserError(
      'usage',
      `--at ${number}: the session ${id} has ${count}; 'agent sessions show ${id}' lists them by number.`,
    )
  }
  return cutTo(rollout, step.end)
}

/** Returns a session whose conversation ends after a number of items. All of them are in its history, including those that a summary had replaced. */
export function cutTo(rollout: ReadRollout, end: number): ReadRollout {
  const original = rollout.original.slice(0, end)
  let left = end
  const entries = rollout.entries.flatMap(({ items, ...entry }) => {
    const kept = items.slice(0, left)
    left -= kept.length
    return kept.length === 0 ? [] : [{ ...entry, items: kept }]
  })
  return { ...rollout, original, history: original, entries, counted: undefined }
}

type Building = {
  told: HistoryItem[]
  items: HistoryItem[]
  results: ToolResult[]
  usage: Usage | undefined
  costUsd: number | undefined
  end: number
}

/** The first prompt of a session; undefined if it has none. */
export function firstPrompt({ original }: Pick<ReadRollout, 'original'>): string | undefined {
  const found = original.find((item) => item.type === 'message' && item.role === 'user')
  return found?.type === 'message' ? found.text : undefined
}
