import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { ReviewRequest, ReviewerAnswer } from '../../../policies/index.ts'
import type { ReviewFunction } from '../../approvals/function-reviewer.ts'
import type { StartedCall } from '../../core/events.ts'
import { permissionModes } from './claude-options.ts'
import type { Client } from './client.ts'
import type { SessionState } from './session-state.ts'
import { showAction, type ShownCall } from './show-call.ts'

const rule = z.looseObject({ toolName: z.string(), ruleContent: z.string().optional() })
const update = z.looseObject({
  type: z.string(),
  mode: z.enum(permissionModes).optional(),
  behavior: z.string().optional(),
  rules: z.array(rule).optional(),
})
const input = z.record(z.string(), z.unknown())
const answer = z.discriminatedUnion('behavior', [
  z.looseObject({
    behavior: z.literal('allow'),
    updatedInput: input.nullish(),
    updatedPermissions: z.array(update).nullish(),
  }),
  z.looseObject({ behavior: z.literal('deny'), message: z.string(), interrupt: z.boolean().nullish() }),
])

/**
 * Answers the Guardian's questions as the mode says or the client answers. The Guardian asks only about what no rule forbids.
 *
 * @param client undefined if it doesn't answer questions about permission
 */
export function reviewByClient(
  state: SessionState,
  client: Client | undefined,
  callOf: (id: string | undefined) => StartedCall | undefined,
  cwd: string,
): ReviewFunction {
  return async (request, { signal = new AbortController().signal }) => {
    const { action, subject, reason } = request
    const { mode } = state
    const denied = (why: string): ReviewerAnswer => ({ outcome: 'denied', reason: why })
    if (mode === 'acceptEdits' && action.type === 'patch' && request.asksFor === 'mode')
      return { outcome: 'allowed', reason: 'The mode acceptEdits allows it.' }
    if (client === undefined || mode === 'dontAsk') return denied(`It needs permission, and nobody is asked. ${reason}`)
    if (mode === 'plan' && action.type !== 'plan') return denied('In the mode plan, nothing may be changed.')
    for (const shown of showAction(action, callOf(subject), cwd)) {
      const { data: said, error } = answer.safeParse(await client.ask(question(shown, request), signal))
      if (said === undefined) return { outcome: 'malformed', reason: `The client's answer: ${z.prettifyError(error)}` }
      if (said.behavior === 'deny')
        return { outcome: said.interrupt === true ? 'aborted' : 'denied', reason: said.message }
      // What was judged can't change any more. A call with the input that the client wants is judged in its own right.
      if (said.updatedInput != null && !isDeepStrictEqual(said.updatedInput, { ...shown.input }))
        return denied(`Call again with this input, which is allowed: ${JSON.stringify(said.updatedInput)}`)
      for (const each of said.updatedPermissions ?? []) apply(each, state)
    }
    if (action.type === 'plan' && state.mode === 'plan') state.mode = 'default'
    return { outcome: 'allowed', reason: 'The client allowed it.' }
  }
}

function apply({ type, mode, behavior, rules = [] }: z.infer<typeof update>, state: SessionState): void {
  if (type === 'setMode' && mode !== undefined) state.changeMode(mode)
  if (type !== 'addRules' || behavior !== 'allow') return
  const entries = rules.map(({ toolName, ruleContent: of }) => (of === undefined ? toolName : `${toolName}(${of})`))
  state.allowed.push(...entries)
}

function question({ name, input: given }: ShownCall, { reason, subject = '' }: ReviewRequest): object {
  const { command } = given
  const covered = { toolName: name, ...(typeof command === 'string' ? { ruleContent: command } : {}) }
  return {
    subtype: 'can_use_tool',
    tool_name: name,
    display_name: name,
    input: given,
    decision_reason: reason,
    permission_suggestions: [{ type: 'addRules', rules: [covered], behavior: 'allow', destination: 'session' }],
    tool_use_id: subject,
  }
}
