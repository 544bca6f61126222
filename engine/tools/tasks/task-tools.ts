import * as z from 'zod'
import { defineTool } from '../define-tool.ts'
import { endsWithin } from '../ends-within.ts'
import { outputTokens } from '../output-tokens.ts'
import type { Tool, ToolContext } from '../tool.ts'
import type { ToolResult } from '../tool-result.ts'
import type { Task } from './background-tasks.ts'
import { describeLine, describeStateBriefly, describeTask } from './describe-task.ts'

const taskId = z.string().min(1).describe("The task's id, e.g. task-1.")

const onlyLooks = { readOnly: () => true, concurrencySafe: () => true, deferred: true } as const

const taskGet = defineTool({
  name: 'task_get',
  description: 'Shows a background task: title, description, status and notes.',
  ...onlyLooks,
  searchHint: 'background job status progress',
  input: z.object({ task_id: taskId }),
  run: ({ task_id: id }, context) =>
    withTask(id, context, (task) => Promise.resolve({ ok: true, output: describeTask(task) })),
})

const taskList = defineTool({
  name: 'task_list',
  description: 'Lists the background tasks of this run, including those that have ended.',
  ...onlyLooks,
  searchHint: 'background jobs running processes',
  input: z.object({}),
  run: (_, { state }) => {
    const lines = state.tasks.all.map(describeLine)
    const output = lines.length === 0 ? 'There are no tasks.' : lines.join('\n')
    return Promise.resolve({ ok: true, output, delegated: true })
  },
})

const taskUpdate = defineTool({
  name: 'task_update',
  description:
    'Changes the title or description of a background task, or adds a note on its progress. If a TaskCompleted hook did not accept the ' +
    'task as done, status "completed" asks the hook again. None of this changes the work itself.',
  deferred: true,
  guarded: true,
  searchHint: 'background job note status',
  input: z.object({
    task_id: taskId,
    title: z.string().min(1).max(80).optional(),
    description: z.string().min(1).max(2000).optional(),
    note: z.string().min(1).max(500).optional().describe('A note to add.'),
    status: z.literal('completed').optional(),
  }),
  validate: ({ task_id: _, ...changes }) =>
    Object.values(changes).every((value) => value === undefined)
      ? 'task_update: give what to change: title, description, note or status.'
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
    'Shows the output of a background task since the last call: that of its command, or the report of its agent. With wait_ms, first ' +
    'waits until the task ends, but no longer than that.',
  deferred: true,
  readOnly: () => true,
  searchHint: 'background job logs result wait await',
  input: z.object({
    task_id: taskId,
    wait_ms: z.int().min(0).max(600_000).optional().describe('How long to wait, in milliseconds. Default 0.'),
    max_output_tokens: outputTokens.describe('The maximum length of the output to return, in tokens. Default 10000.'),
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
  description: 'Stops a background task and everything it started, and shows its last output.',
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

/** The tools that show, change and stop background tasks. */
export const taskTools: readonly Tool[] = [taskGet, taskList, taskOutput, taskStop, taskUpdate]

async function withTask(
  id: string,
  { state }: ToolContext,
  run: (task: Task) => Promise<ToolResult>,
): Promise<ToolResult> {
  const task = state.tasks.get(id)
  if (task !== undefined) return { ...(await run(task)), delegated: true }
  const known = state.tasks.all.map((one) => one.id)
  const there = known.length === 0 ? 'This run has no tasks' : `Tasks of this run: ${known.join(', ')}`
  return {
    ok: false,
    output: `There is no task '${id}'. ${there}. Tasks end with the run that started them.`,
    delegated: true,
  }
}

/** Returns a task's state and its new output. If the task has ended, records that the model now knows the outcome. */
async function look(
  task: Task,
  options: Parameters<Task['work']['look']>[0],
  { state }: ToolContext,
): Promise<ToolResult> {
  const { work, id } = task
  const given = await work.look(options)
  const stands = describeStateBriefly(task)
  state.tasks.tell(id)
  // The call itself succeeded, no matter how the task ended.
  return { ...given, ok: true, output: `${stands}\n${given.output}` }
}
