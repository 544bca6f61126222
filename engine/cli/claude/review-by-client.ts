import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { ReviewRequest, ReviewerAnswer } from '../../../policies/index.ts'
import type { ReviewFunction } from '../../approvals/function-reviewer.ts'
import type { CallView } from '../../hooks/call-view.ts'
import { permissionModes } from './claude-options.ts'
import type { Client } from './client.ts'
import type { SessionState } from './session-state.ts'
import { showAction, showCall } from '../show-call.ts'
import type { TurnMessages } from './turn-messages.ts'

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

type Reviewing = { readonly review: ReviewFunction; readonly replacement: (callId: string) => unknown }

/**
 * Answers the Guardian's questions as the mode says or the client answers. The Guardian asks only about what no rule forbids. If the client changes the
 * input of a call, the call is denied, because what was judged can't change any more, and made with that input, which is judged in its own right.
 *
 * @param client undefined if it doesn't answer questions about permission
 */
export function reviewByClient(
  state: SessionState,
  client: Client | undefined,
  messages: TurnMessages,
  cwd: string,
): Reviewing {
  /** The calls with another input than the model gave them, as the client allowed them, and the inputs that weren't taken yet. */
  const [changed, replacements] = [new Map<string, object>(), new Map<string, unknown>()]
  const review: ReviewFunction = async (request, { signal = new AbortController().signal }) => {
    const { action, subject = '', reason } = request
    const call = messages.callOf(subject)
    const { mode } = state
    const denied = (why: string): ReviewerAnswer => ({ outcome: 'denied', reason: why })
    if (mode === 'acceptEdits' && action.type === 'patch' && request.asksFor === 'mode')
      return { outcome: 'allowed', reason: 'The mode acceptEdits allows it.' }
    if (client === undefined || mode === 'dontAsk') return denied(`It needs permission, and nobody is asked. ${reason}`)
    if (mode === 'plan' && action.type !== 'plan') return denied('In the mode plan, nothing may be changed.')
    for (const shown of showAction(action, call, cwd)) {
      const { name, input } = shown
      // As the client sees it: JSON has no fields that are undefined.
      const given: unknown = JSON.parse(JSON.stringify(input))
      if (isDeepStrictEqual(changed.get(subject), { name, input })) continue
      const { data: said, error } = answer.safeParse(await client.ask(question(shown, request), signal))
      if (said === undefined) return { outcome: 'malformed', reason: `The client's answer: ${z.prettifyError(error)}` }
      if (said.behavior === 'deny')
        return { outcome: said.interrupt === true ? 'aborted' : 'denied', reason: said.message }
      for (const each of said.updatedPermissions ?? []) apply(each, state)
      if (said.updatedInput == null || isDeepStrictEqual(said.updatedInput, given)) continue
      const own = shown.replace(said.updatedInput)
      if (call === undefined || 'problem' in own || changed.has(subject))
        return denied(`Call again with this input, which is allowed: ${JSON.stringify(said.updatedInput)}`)
      const other = { ...call, input: own.input }
      messages.change(other)
      changed.set(subject, showCall(other, cwd))
      replacements.set(subject, own.input)
      return denied('The client makes the call with another input.')
    }
    if (action.type === 'plan' && state.mode === 'plan') state.mode = 'default'
    return { outcome: 'allowed', reason: 'The client allowed it.' }
  }
  const replacement = (id: string): unknown => {
    const own = replacements.get(id)
    replacements.delete(id)
    return own
  }
  return { review, replacement }
}

function apply({ type, mode, behavior, rules = [] }: z.infer<typeof update>, state: SessionState): void {
  if (type === 'setMode' && mode !== undefined) state.changeMode(mode)
  if (type !== 'addRules' || behavior !== 'allow') return
  const entries = rules.map(({ toolName, ruleContent: of }) => (of === undefined ? toolName : `${toolName}(${of})`))
  state.allowed.push(...entries)
}

function question(
  { name, input: given }: Pick<CallView, 'name' | 'input'>,
  { reason, subject = '' }: ReviewRequest,
): object {
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
