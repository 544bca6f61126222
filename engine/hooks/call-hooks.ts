import type { CallHooks, HookedCall } from '../tools/hook-interface.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { HookOutcome } from './combine-answers.ts'
import type { Hooks } from './hooks.ts'
import type { CallView } from './call-view.ts'
import { viewsOf } from './views-of-call.ts'
import { withReason } from './with-reason.ts'

/** Returns the functions that call a run's hooks before and after its tool calls. If a hook ends the run, `stop` is called with the reason. */
export function callHooks(hooks: Hooks, workspace: string, stop: (reason: string) => void): CallHooks {
  const views = (call: HookedCall, input: unknown): readonly CallView[] =>
    viewsOf({ ...call, input: input as Readonly<Record<string, unknown>> }, workspace)

  return {
    before: async (call) => {
      const { id, input, seen, agent } = call
      if (!hooks.has('PreToolUse')) return { decision: 'proceed' }
      const shown = views(call, seen ?? input)
      const action = shown.find((view) => view.action !== undefined)?.action
      const outcome = await hooks.fireForCall('PreToolUse', shown, { tool_use_id: id, ...whose(agent) })
      if (outcome.stop !== undefined) {
        stop(outcome.stop)
        return { decision: 'block', reason: `a hook ended the run: ${outcome.stop}`, action }
      }
      const { decision, reason = '', updatedInput } = outcome
      if (decision === 'deny') return { decision: 'block', reason, action }
      const context = contextOf(outcome)
      return {
        decision: 'proceed',
        ...(decision === undefined ? {} : { opinion: { decision, reason } }),
        ...(updatedInput === undefined ? {} : { input: updatedInput }),
        ...(context === '' ? {} : { context }),
      }
    },
    after: async (call, result, took) => {
      const { id, input, agent } = call
      const event = result.ok ? 'PostToolUse' : result.refused === undefined ? 'PostToolUseFailure' : 'PermissionDenied'
      if (!hooks.has(event)) return result
      const said = {
        PostToolUse: { tool_response: responseOf(result) },
        PostToolUseFailure: { error: result.output, is_interrupt: false },
        PermissionDenied: { reason: result.refused?.reason },
      }[event]
      const fields = { tool_use_id: id, duration_ms: took, ...whose(agent), ...said }
      const outcome = await hooks.fireForCall(event, views(call, input), fields)
      if (outcome.stop !== undefined) stop(outcome.stop)
      const complaint = outcome.decision === 'deny' ? withReason('A hook objects', outcome.reason) : ''
      const added = [complaint, contextOf(outcome)].filter((text) => text !== '')
      return { ...result, output: [outcome.updatedOutput ?? result.output, ...added].join('\n') }
    },
  }
}

function whose(agent: HookedCall['agent']): Readonly<Record<string, unknown>> {
  return agent === undefined ? {} : { agent_id: agent.id, agent_type: agent.type }
}

/** Formats the text that hooks add to a tool's result for the model. */
function contextOf({ context }: HookOutcome): string {
  return context.map((text) => `[hook] ${text}`).join('\n')
}

/** Converts a result to an object with the fields that hook scripts read. */
function responseOf({ output, ok }: ToolResult): Readonly<Record<string, unknown>> {
  return { stdout: output, stderr: '', interrupted: false, success: ok, content: output }
}
