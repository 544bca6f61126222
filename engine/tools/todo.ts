import * as z from 'zod'
import { checkSteps, renderSteps, showSteps } from './checklist.ts'
import { defineTool } from './define-tool.ts'
import { TodoEntries, todoToolName, type TodoEntry } from './todo-list.ts'
import type { Tool } from './tool.ts'

/** The tool that reads and writes the session's task list. It changes nothing else. */
export const todo: Tool = defineTool({
  name: todoToolName,
  claudeNames: ['TodoWrite'],
  description:
    'Keeps a list of what to do. Use it for work with more than a few steps. Send the whole list each time and keep the ids; at most one ' +
    'entry may be in progress. The list survives a summary of the conversation and is restored when the session is resumed. Without ' +
    'todos, shows the list.',
  searchHint: 'checklist tasks remaining work items remember progress todowrite',
  ownItems: true,
  readOnly: () => true,
  input: z.object({ todos: TodoEntries.optional().describe('The whole list. [] clears it.') }),
  validate: ({ todos = [] }) => {
    const twice = todos.find(({ id }, at) => todos.findIndex((other) => other.id === id) !== at)
    if (twice !== undefined) return `todo: the id '${twice.id}' occurs twice. Each entry needs its own id.`
    const broken = todos.find(({ content }) => /[\r\n]/.test(content))
    if (broken !== undefined) return `todo: the content of '${broken.id}' has more than one line.`
    return checkSteps(todoToolName, todos)
  },
  run: ({ todos }, { state, startItem }) => {
    const dropped = todos === undefined ? [] : state.todo.replace(todos)
    const steps = asSteps(state.todo.entries)
    if (todos !== undefined) showSteps(steps, startItem)
    const said = steps.length === 0 ? 'The list is empty.' : `The list is now:\n${renderSteps(steps)}`
    const missing = dropped.length === 0 ? '' : `\nRemoved although not completed:\n${renderSteps(asSteps(dropped))}`
    return Promise.resolve({ ok: true, output: `${said}${missing}` })
  },
})

/** Converts the entries of the task list to steps for display. */
export function asSteps(entries: readonly TodoEntry[]) {
  return entries.map(({ id, content, status }) => ({ id, text: content, status }))
}
