import * as z from 'zod'
import { checkSteps, renderSteps, showSteps } from './checklist.ts'
import { defineTool } from './define-tool.ts'
import { TodoEntries, todoToolName, type TodoEntry } from './todo-list.ts'
import type { Tool } from './tool.ts'

/** The session's task list. It changes nothing else. */
export const todo: Tool = defineTool({
  name: todoToolName,
  claudeNames: ['TodoWrite'],
  description:
    'Keeps the list of what is to be done, the whole of it each time, by ids that stay. At most one entry is in progress. For work that has ' +
    'more than a few steps. It outlives a summary of the conversation, and is there again when the session is resumed. With no todos it ' +
    'shows the list.',
  searchHint: 'checklist tasks remaining work items remember progress todowrite',
  ownItems: true,
  readOnly: () => true,
  input: z.object({ todos: TodoEntries.optional().describe('The whole list. [] clears it.') }),
  validate: ({ todos = [] }) => {
    const twice = todos.find(({ id }, at) => todos.findIndex((other) => other.id === id) !== at)
    if (twice !== undefined) return `todo: the id '${twice.id}' is there twice. Each entry has its own.`
    const broken = todos.find(({ content }) => /[\r\n]/.test(content))
    if (broken !== undefined) return `todo: the content of '${broken.id}' has more than one line.`
    return checkSteps(todoToolName, todos)
  },
  run: ({ todos }, { state, startItem }) => {
    const dropped = todos === undefined ? [] : state.todo.replace(todos)
    const steps = asSteps(state.todo.entries)
    if (todos !== undefined) showSteps(steps, startItem)
    const said = steps.length === 0 ? 'The list is empty.' : `The list is now:\n${renderSteps(steps)}`
    const missing = dropped.length === 0 ? '' : `\nNo longer on it, though not done:\n${renderSteps(asSteps(dropped))}`
    return Promise.resolve({ ok: true, output: `${said}${missing}` })
  },
})

/** The entries of the task list as steps for display. */
export function asSteps(entries: readonly TodoEntry[]) {
  return entries.map(({ id, content, status }) => ({ id, text: content, status }))
}
