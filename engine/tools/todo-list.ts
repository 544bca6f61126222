import * as z from 'zod'
import type { HistoryItem, ToolCall } from '../core/model.ts'
import { stepStatus } from './step-status.ts'
import { ExecuteInput, executeToolName } from './search/execute-input.ts'

/** The name of the tool that writes the session's task list. */
export const todoToolName = 'todo'

/**
 * The name of the tool that writes the task list for models that were trained to keep a plan. The steps of a plan have no ids; their positions identify them.
 */
export const updatePlanName = 'update_plan'

/** The input of `update_plan`: all steps of the plan. */
export const planSteps = z
  .array(z.object({ step: z.string().min(1), status: stepStatus }))
  .min(1)
  .max(50)

const mostEntries = 100

/** The input of `todo`: the whole task list. */
export const TodoEntries = z
  .array(
    z.object({
      id: z
        .string()
        .regex(/^[\w.-]{1,32}$/, 'must be 1 to 32 letters, digits, ".", "_" or "-"')
        .describe('A short id that stays the same from call to call.'),
      content: z.string().min(1).max(500).describe('What to do, in one line.'),
      status: stepStatus,
    }),
  )
  .max(mostEntries)

/** An entry in the task list. */
export type TodoEntry = z.infer<typeof TodoEntries>[number]

const TodoInput = z.object({ todos: TodoEntries })
const PlanInput = z.object({ plan: planSteps })

/** Converts the steps of a plan to entries of the task list. */
export function planEntries(plan: z.infer<typeof planSteps>): readonly TodoEntry[] {
  return plan.map(({ step, status }, at) => ({ id: String(at + 1), content: step, status }))
}

/** The task list of a session. */
export class TodoList {
  #entries: readonly TodoEntry[]

  /** @param entries the initial entries, for example those of a resumed session */
  constructor(entries: readonly TodoEntry[]) {
    this.#entries = entries
  }

  get entries(): readonly TodoEntry[] {
    return this.#entries
  }

  /** Replaces the list and returns the unfinished entries that are missing from the new list. */
  replace(entries: readonly TodoEntry[]): readonly TodoEntry[] {
    const kept = new Set(entries.map(({ id }) => id))
    const dropped = this.#entries.filter(({ id, status }) => status !== 'completed' && !kept.has(id))
    this.#entries = entries
    return dropped
  }
}

/**
 * Reads the task list from the tool calls in a conversation. The list is stored nowhere else, so a resumed session restores it in this way.
 *
 * @param history the whole history, from its beginning
 */
export function todoIn(history: readonly HistoryItem[]): readonly TodoEntry[] {
  const written = new Map<string, readonly TodoEntry[]>()
  let entries: readonly TodoEntry[] = []
  for (const item of history) {
    if (item.type === 'tool_call') {
      const list = listIn(item.call)
      if (list !== undefined) written.set(item.call.id, list)
    }
    if (item.type === 'tool_result' && item.ok) entries = written.get(item.callId) ?? entries
  }
  return entries
}

/** The task list that a call writes; undefined if it writes none. */
function listIn({ name, input }: ToolCall): readonly TodoEntry[] | undefined {
  if (name !== executeToolName) return writers.includes(name) ? written(name, parse(input)) : undefined
  const wrapped = ExecuteInput.safeParse(parse(input)).data
  return wrapped === undefined ? undefined : written(wrapped.name, wrapped.input)
}

const writers: readonly string[] = [todoToolName, updatePlanName]

function written(tool: string, input: unknown): readonly TodoEntry[] | undefined {
  if (tool === todoToolName) return TodoInput.safeParse(input).data?.todos
  const plan = tool === updatePlanName ? PlanInput.safeParse(input).data?.plan : undefined
  return plan === undefined ? undefined : planEntries(plan)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A call whose input isn't valid JSON wrote no list: it was answered with an error.
    return undefined
  }
}
