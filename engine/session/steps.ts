import type { HistoryItem, ToolCall, Usage } from '../core/model.ts'
import { UserError } from '../core/user-error.ts'
import type { ReadRollout } from './rollout.ts'

/** A step of a session: a response of the model, and what the tools returned for its calls. Steps are counted from 1. */
export type Step = {
  readonly number: number
  /** What was said to the model before it, since the step before: the prompt, and what the run told it. */
  readonly told: readonly HistoryItem[]
  /** What the model said. */
  readonly items: readonly HistoryItem[]
  readonly calls: readonly ToolCall[]
  readonly results: readonly ToolResult[]
  /** Undefined for a step that was copied from another session, which had paid for it. */
  readonly usage: Usage | undefined
  /** In US dollars; undefined where the price was not known. */
  readonly costUsd: number | undefined
  /** How many items of all that was said there are up to its end, with its results. */
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
 * A session as it was after a step: what was said later is left out, and summaries of it.
 *
 * @throws UserError `usage` where it has no such step
 */
export function cutAfter(rollout: ReadRollout, number: number): ReadRollout {
  const steps = stepsOf(rollout)
  const step = steps[number - 1]
  if (step === undefined) {
    const { thread_id: id } = rollout.session
    const count = `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`
    throw new UserError(
      'usage',
      `--at ${number}: the session ${id} has ${count}; agent sessions show ${id} numbers them.`,
    )
  }
  const original = rollout.original.slice(0, step.end)
  let left = step.end
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

/** What a person or a program asked of a session first; undefined where nothing was asked. */
export function firstPrompt({ original }: Pick<ReadRollout, 'original'>): string | undefined {
  const found = original.find((item) => item.type === 'message' && item.role === 'user')
  return found?.type === 'message' ? found.text : undefined
}
