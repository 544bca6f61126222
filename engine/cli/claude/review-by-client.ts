import * as z from 'zod'
import type { ReviewRequest, ReviewerAnswer } from '../../../policies/index.ts'
import type { ReviewFunction } from '../../approvals/function-reviewer.ts'
import type { StartedCall } from '../../core/events.ts'
import { permissionModes, type ClaudeOptions } from './claude-options.ts'
import type { Client } from './client.ts'
import { changeMode, type SessionState } from './session-state.ts'
import { showAction, type ShownCall } from './show-call.ts'

const update = z.looseObject({
  type: z.string(),
  mode: z.enum(permissionModes).optional(),
  behavior: z.string().optional(),
  rules: z.array(z.looseObject({ toolName: z.string(), ruleContent: z.string().optional() })).optional(),
})

const answer = z.discriminatedUnion('behavior', [
  z.looseObject({
    behavior: z.literal('allow'),
    updatedInput: z.record(z.string(), z.unknown()).nullish(),
    updatedPermissions: z.array(update).nullish(),
  }),
  z.looseObject({ behavior: z.literal('deny'), message: z.string(), interrupt: z.boolean().nullish() }),
])

type Asking = {
  readonly state: SessionState
  readonly options: ClaudeOptions
  /** The client, if it answers questions about permission. */
  readonly client: Client | undefined
  readonly callOf: (id: string | undefined) => StartedCall | undefined
  readonly cwd: string
}

/** Answers the Guardian's questions as the mode says or the client answers. The Guardian asks only about what no rule forbids. */
export function reviewByClient({ state, options, client, callOf, cwd }: Asking): ReviewFunction {
  return async (request, { signal = new AbortController().signal }) => {
    const { action, subject } = request
    if (state.mode === 'acceptEdits' && action.type === 'patch' && request.asksFor === 'mode')
      return { outcome: 'allowed', reason: 'The mode acceptEdits allows it.' }
    if (client === undefined || state.mode === 'dontAsk')
      return { outcome: 'denied', reason: `It needs permission, and nobody is asked. ${request.reason}` }
    if (state.mode === 'plan' && action.type !== 'plan')
      return { outcome: 'denied', reason: 'In the mode plan, nothing may be changed.' }
    for (const shown of showAction(action, callOf(subject), cwd)) {
      const said = answer.safeParse(await client.ask(question(shown, request), signal))
      if (!said.success)
        return {
          outcome: 'malformed',
          reason: `The client's answer: ${z.prettifyError(said.error)}`.replaceAll('\n', ' '),
        }
      const refusal = refusalOf(said.data, shown)
      if (refusal !== undefined) return refusal
      if (said.data.behavior === 'allow') applyUpdates(said.data.updatedPermissions ?? [])
    }
    return { outcome: 'allowed', reason: 'The client allowed it.' }
  }

  function applyUpdates(updates: readonly z.infer<typeof update>[]): void {
    for (const { type, mode, behavior, rules = [] } of updates) {
      if (type === 'setMode' && mode !== undefined) changeMode(state, mode, options)
      if (type !== 'addRules' || behavior !== 'allow') continue
      state.allowed.push(...rules.map(({ toolName, ruleContent }) => entry(toolName, ruleContent)))
    }
  }
}

function entry(tool: string, content: string | undefined): string {
  return content === undefined ? tool : `${tool}(${content})`
}

function question({ name, input }: ShownCall, { reason, subject = '' }: ReviewRequest): object {
  const { command } = input
  const rule = { toolName: name, ...(typeof command === 'string' ? { ruleContent: command } : {}) }
  return {
    subtype: 'can_use_tool',
    tool_name: name,
    display_name: name,
    input,
    decision_reason: reason,
    permission_suggestions: [{ type: 'addRules', rules: [rule], behavior: 'allow', destination: 'session' }],
    tool_use_id: subject,
  }
}

/** Why the answer doesn't let the action happen; undefined if it does. */
function refusalOf(said: z.infer<typeof answer>, { input }: ShownCall): ReviewerAnswer | undefined {
  if (said.behavior === 'deny') return { outcome: said.interrupt === true ? 'aborted' : 'denied', reason: said.message }
  const { updatedInput } = said
  if (updatedInput == null || isSame(updatedInput, input)) return undefined
  // What was judged can't change any more. A call with the input that the client wants is judged in its own right.
  return {
    outcome: 'denied',
    reason: `Make the call again with this input, which is allowed: ${JSON.stringify(updatedInput)}`,
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  )
}
