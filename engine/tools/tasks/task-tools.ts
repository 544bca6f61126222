import * as z from 'zod'
import { defineTool } from '../define-tool.ts'
import { endsWithin } from '../ends-within.ts'
import type { Tool, ToolContext } from '../tool.ts'
import type { ToolResult } from '../tool-result.ts'
import type { Task } from './background-tasks.ts'
import { describeLine, describeStateBriefly, describeTask } from './describe-task.ts'

const taskId = z.string().min(1).describe('Its id, e.g. task-1.')

const onlyLooks = { readOnly: () => true, concurrencySafe: () => true, deferred: true } as const

const taskGet = defineTool({
  name: 'task_get',
  description: 'Shows what is known of a background task: title, description, how it stands, notes.',
  ...onlyLooks,
  searchHint: 'background job status progress',
  input: z.object({ task_id: taskId }),
  run: ({ task_id: id }, context) =>
    withTask(id, context, (task) => Promise.resolve({ ok: true, output: describeTask(task) })),
})

const taskList = defineTool({
  name: 'task_list',
  description: 'Lists the background tasks of this run, those that have ended too.',
  ...onlyLooks,
  searchHint: 'background jobs running processes',
  input: z.object({}),
  run: (_, { state }) => {
    const lines = state.tasks.all.map(describeLine)
    return Promise.resolve({ ok: true, output: lines.length === 0 ? 'There are no tasks.' : lines.join('\n') })
  },
})

const taskUpdate = defineTool({
  name: 'task_update',
  description:
    'Changes what is written on a background task: its title, its description, a note on how it goes. With status "completed" a task that ' +
    'a TaskCompleted hook did not take for done is shown to the hook again. It does not change what the task does.',
  deferred: true,
  guarded: true,
  searchHint: 'background job note status',
  input: z.object({
    task_id: taskId,
    title: z.string().min(1).max(80).optional(),
    description: z.string().min(1).max(2000).optional(),
    note: z.string().min(1).max(500).optional().describe('Added to its notes.'),
    status: z.literal('completed').optional(),
  }),
  validate: ({ task_id: _, ...changes }) =>
    Object.values(changes).every((value) => value === undefined)
      ? 'task_update: say what changes: title, description, note or status.'
      : undefined,
  run: ({ task_id: id, status, ...changes }, context) =>
    withTask(id, context, async (task) => {
      const { tasks } = context.state
      tasks.change(id, changes)
      if (status === undefined) return { ok: true, output: describeTask(task) }
      await tasks.complete(id)
      return { ok: task.status === 'completed', output: describeTask(task) }
    }),
})

const taskOutput = defineTool({
  name: 'task_output',
  claudeNames: ['TaskOutput'],
  description:
    'Shows what a background task gave since this was last asked: the output of its command, the report of its agent. With wait_ms it waits ' +
    'for the end of the task first, but no longer than that.',
  deferred: true,
  readOnly: () => true,
  searchHint: 'background job logs result wait await',
  input: z.object({
    task_id: taskId,
    wait_ms: z.int().min(0).max(600_000).optional().describe('Milliseconds. Default 0.'),
    max_output_tokens: z.int().min(1).max(100_000).optional().describe('How much output comes back. Default 10000.'),
  }),
  run: ({ task_id: id, wait_ms: ms = 0, max_output_tokens: maxTokens }, context) =>
    withTask(id, context, async (task) => {
      const started = performance.now()
      if (ms > 0) await endsWithin(task.settled, ms, context.signal)
      return look(task, { waitedMs: performance.now() - started, maxTokens }, context)
    }),
})

const taskStop = defineTool({
  name: 'task_stop',
  claudeNames: ['TaskStop'],
  description: 'Ends a background task, with everything it started, and shows what it gave last.',
  deferred: true,
  guarded: true,
  searchHint: 'kill cancel abort background job',
  input: z.object({ task_id: taskId }),
  run: ({ task_id: id }, context) =>
    withTask(id, context, async (task) => {
      const started = performance.now()
      await context.state.tasks.stop(id)
      return look(task, { waitedMs: performance.now() - started, maxTokens: undefined }, context)
    }),
})

/** The tools that look at background tasks, change and end them. */
export const taskTools: readonly Tool[] = [taskGet, taskList, taskOutput, taskStop, taskUpdate]

async function withTask(
  id: string,
  { state }: ToolContext,
  run: (task: Task) => Promise<ToolResult>,
): Promise<ToolResult> {
  const task = state.tasks.get(id)
  if (task !== undefined) return run(task)
  const known = state.tasks.all.map((one) => one.id)
  const there = known.length === 0 ? 'There are none' : `There are: ${known.join(', ')}`
  return { ok: false, output: `There is no task '${id}'. ${there}. Tasks end with the run that began them.` }
}

/** The state of a task and its output. After this the model knows about its end. */
async function look(
  task: Task,
  options: Parameters<Task['work']['look']>[0],
  { state }: ToolContext,
): Promise<ToolResult> {
  const { work, id } = task
  const given = await work.look(options)
  const stands = describeStateBriefly(task)
  state.tasks.tell(id)
  // The call succeeded, however the task ended.
  return { ...given, ok: true, output: `${stands}\n${given.output}` }
}
