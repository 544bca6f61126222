import * as z from 'zod'
import type { HistoryItem, ToolCall } from '../core/model.ts'
import { stepStatus } from './step-status.ts'
import { ExecuteInput, executeToolName } from './search/execute-input.ts'

/** The name of the tool that writes the list. */
export const todoToolName = 'todo'

const mostEntries = 100

/** The whole list, as one call writes it. */
export const TodoEntries = z
  .array(
    z.object({
      id: z
        .string()
        .regex(/^[\w.-]{1,32}$/, 'must be 1 to 32 letters, digits, ".", "_" or "-"')
        .describe('Short, and the same from call to call.'),
      content: z.string().min(1).max(500).describe('What is to be done, in one line.'),
      status: stepStatus,
    }),
  )
  .max(mostEntries)

/** One thing to be done. */
export type TodoEntry = z.infer<typeof TodoEntries>[number]

const TodoInput = z.object({ todos: TodoEntries })

/** What a session has to do. */
export class TodoList {
  #entries: readonly TodoEntry[]

  /** @param entries what a resumed session had to do already */
  constructor(entries: readonly TodoEntry[]) {
    this.#entries = entries
  }

  get entries(): readonly TodoEntry[] {
    return this.#entries
  }

  /** Puts a new list in the old one's place, and gives what was open in that and is not in this. */
  replace(entries: readonly TodoEntry[]): readonly TodoEntry[] {
    const kept = new Set(entries.map(({ id }) => id))
    const dropped = this.#entries.filter(({ id, status }) => status !== 'completed' && !kept.has(id))
    this.#entries = entries
    return dropped
  }
}

/**
 * The list as the calls of a conversation left it: that is where it is kept, so that a session is resumed with it.
 *
 * @param history the whole of it, from its beginning
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

/** What a call writes; undefined for one that writes no list. */
function listIn({ name, input }: ToolCall): readonly TodoEntry[] | undefined {
  if (name !== todoToolName && name !== executeToolName) return undefined
  const json = parse(input)
  if (name === todoToolName) return TodoInput.safeParse(json).data?.todos
  const wrapped = ExecuteInput.safeParse(json).data
  return wrapped?.name === todoToolName ? TodoInput.safeParse(wrapped.input).data?.todos : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Such a call had no list, and was told so.
    return undefined
  }
}
