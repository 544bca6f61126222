import * as z from 'zod'
import { defineTool } from './define-tool.ts'
import type { Tool } from './tool.ts'

const marks = { completed: 'x', in_progress: '>', pending: ' ' } as const

/** The model's plan, for itself and for who watches. It changes nothing. */
export const updatePlan: Tool = defineTool({
  name: 'update_plan',
  description:
    'Keeps a plan of several steps, the whole of it each time. At most one step is in progress. For work that has more than a few steps.',
  ownItems: true,
  readOnly: () => true,
  input: z.object({
    plan: z
      .array(z.object({ step: z.string().min(1), status: z.enum(['pending', 'in_progress', 'completed']) }))
      .min(1)
      .max(50),
    explanation: z.string().optional().describe('Why it has changed.'),
  }),
  validate: ({ plan }) =>
    plan.filter(({ status }) => status === 'in_progress').length > 1
      ? 'update_plan: more than one step is in progress. Work on one at a time.'
      : undefined,
  run: ({ plan }, context) => {
    const items = plan.map(({ step, status }) => ({ text: step, completed: status === 'completed', status }))
    context.startItem({ type: 'todo_list', items }).complete({})
    const lines = plan.map(({ step, status }) => `[${marks[status]}] ${step}`)
    return Promise.resolve({ ok: true, output: `The plan is now:\n${lines.join('\n')}` })
  },
})
