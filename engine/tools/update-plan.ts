import * as z from 'zod'
import { checkSteps, renderSteps, showSteps } from './checklist.ts'
import { planEntries, planSteps, updatePlanName } from './todo-list.ts'
import { defineTool } from './define-tool.ts'
import type { Tool } from './tool.ts'

/** The tool with which the model writes down its plan, for itself and for the user. It changes nothing else. */
export const updatePlan: Tool = defineTool({
  name: updatePlanName,
  claudeNames: ['TodoWrite'],
  description:
    'Keeps a list of the steps of your work. Use it for work with more than a few steps. Send the whole list each time; at most one step ' +
    'may be in progress. The list survives a summary of the conversation and is restored when the session is resumed.',
  ownItems: true,
  readOnly: () => true,
  input: z.object({
    plan: planSteps,
    explanation: z.string().optional().describe('Why the plan has changed.'),
  }),
  validate: ({ plan }) => checkSteps(updatePlanName, plan),
  run: ({ plan }, context) => {
    const steps = plan.map(({ step, status }) => ({ text: step, status }))
    context.state.todo.replace(planEntries(plan))
    showSteps(steps, context.startItem)
    return Promise.resolve({ ok: true, output: `The plan is now:\n${renderSteps(steps)}` })
  },
})
