import * as z from 'zod'
import { checkSteps, renderSteps, showSteps } from './checklist.ts'
import { planEntries, planSteps, updatePlanName } from './todo-list.ts'
import { defineTool } from './define-tool.ts'
import type { Tool } from './tool.ts'

/** The model's plan, for itself and for the user. It changes nothing. */
export const updatePlan: Tool = defineTool({
  name: updatePlanName,
  claudeNames: ['TodoWrite'],
  description:
    'Keeps the list of steps of your work, the whole of it each time. At most one step is in progress. For work that has more than a few ' +
    'steps. It outlives a summary of the conversation, and is there again when the session is resumed.',
  ownItems: true,
  readOnly: () => true,
  input: z.object({
    plan: planSteps,
    explanation: z.string().optional().describe('Why it has changed.'),
  }),
  validate: ({ plan }) => checkSteps(updatePlanName, plan),
  run: ({ plan }, context) => {
    const steps = plan.map(({ step, status }) => ({ text: step, status }))
    context.state.todo.replace(planEntries(plan))
    showSteps(steps, context.startItem)
    return Promise.resolve({ ok: true, output: `The plan is now:\n${renderSteps(steps)}` })
  },
})
