import * as z from 'zod'
import { checkSteps, renderSteps, showSteps } from './checklist.ts'
import { stepStatus } from './step-status.ts'
import { defineTool } from './define-tool.ts'
import type { Tool } from './tool.ts'

/** The model's plan, for itself and for who watches. It changes nothing. */
export const updatePlan: Tool = defineTool({
  name: 'update_plan',
  claudeNames: ['TodoWrite'],
  description:
    'Keeps a plan of several steps, the whole of it each time. At most one step is in progress. For work that has more than a few steps. ' +
    'It shows how you go about this task; work that must not be forgotten over a long session belongs in todo.',
  ownItems: true,
  readOnly: () => true,
  input: z.object({
    plan: z
      .array(z.object({ step: z.string().min(1), status: stepStatus }))
      .min(1)
      .max(50),
    explanation: z.string().optional().describe('Why it has changed.'),
  }),
  validate: ({ plan }) => checkSteps('update_plan', plan),
  run: ({ plan }, context) => {
    const steps = plan.map(({ step, status }) => ({ text: step, status }))
    showSteps(steps, context.startItem)
    return Promise.resolve({ ok: true, output: `The plan is now:\n${renderSteps(steps)}` })
  },
})
