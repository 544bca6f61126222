import * as z from 'zod'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import { requireIdle, type BackgroundAgents } from '../tools/require-idle.ts'
import { defineTool } from '../tools/define-tool.ts'
import { eventVerdict } from '../tools/denied-result.ts'
import type { Tool } from '../tools/tool.ts'

/**
 * The tools with which a model begins to plan and submits its plan: `enter_plan_mode` and `exit_plan_mode`.
 *
 * @param agents the background agents of the run
 */
export function planModeTools(mode: PlanMode, agents: BackgroundAgents): readonly Tool[] {
  return [enterPlanMode(mode, agents), exitPlanMode(mode)]
}

const wording = {
  commands: 'Commands are still running and could make changes',
  agents: 'Agents are still working',
}

function enterPlanMode(mode: PlanMode, agents: BackgroundAgents): Tool {
  return defineTool({
    name: 'enter_plan_mode',
    claudeNames: ['EnterPlanMode'],
    description:
      'Begins plan mode: until a plan is approved, only reading is allowed. Use it when the approach should be agreed on before anything ' +
      'is changed.',
    input: z.object({}),
    guarded: true,
    ownItems: true,
    deferred: true,
    searchHint: 'plan design agree approve before changing read-only',
    run: (_, context) => {
      if (mode.requestedBy !== undefined) return Promise.resolve({ ok: true, output: 'Plan mode is already on.' })
      const reason = requireIdle(agents, context, wording)
      if (reason !== undefined) return Promise.resolve({ ok: false, output: reason })
      const { startItem, callId } = context
      mode.enter()
      startItem({ type: 'plan_mode', state: 'entered', requested_by: 'model', call_id: callId }).complete({})
      const output =
        'Plan mode is on. Explore with tools that only read, then call exit_plan_mode with the plan. Until the plan is approved, all ' +
        'other calls are refused.'
      return Promise.resolve({ ok: true, output })
    },
  })
}

function exitPlanMode(mode: PlanMode): Tool {
  return defineTool({
    name: 'exit_plan_mode',
    claudeNames: ['ExitPlanMode'],
    description:
      'Submits the plan for approval. If it is approved, plan mode ends and you carry the plan out. If not, you are told why and ' +
      'continue planning.',
    input: z.object({
      plan: z
        .string()
        .trim()
        .min(1)
        .describe('The whole plan, in Markdown: what to change, where, and how to check the result.'),
    }),
    guarded: true,
    ownItems: true,
    deferred: true,
    // A run that begins in plan mode needs this tool to leave plan mode, so the model must not have to search for it.
    alwaysLoad: mode.requestedBy !== undefined,
    searchHint: 'plan ready approve leave plan mode',
    run: async ({ plan }, { review, callId, startItem }) => {
      const { requestedBy } = mode
      if (requestedBy === undefined) {
        return { ok: false, output: 'Plan mode is not on. You can make changes without a plan.' }
      }
      const item = startItem({ type: 'plan_mode', state: 'proposed', requested_by: requestedBy, plan, call_id: callId })
      const { verdict } = await review({ type: 'plan', plan, requestedBy })
      const said = { verdict: eventVerdict(verdict) }
      if (verdict.decision === 'allow') {
        mode.leave()
        item.complete({ state: 'left', ...said })
        return { ok: true, output: `The plan is approved. ${verdict.reason} Plan mode is off: carry the plan out.` }
      }
      if (mode.concluded !== undefined) {
        item.complete({ state: 'delivered', ...said })
        return {
          ok: true,
          output: 'Nobody is here to approve the plan, so the plan is the result of this run: state it, and stop.',
        }
      }
      item.complete({ state: 'kept', ...said })
      return {
        ok: false,
        abort: verdict.decision === 'abort',
        refused: said.verdict,
        output: `The plan is not approved: ${verdict.reason}\nPlan mode stays on. Change the plan, and call exit_plan_mode again.`,
      }
    },
  })
}
