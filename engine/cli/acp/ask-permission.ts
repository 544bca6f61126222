import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Action, ReviewerAnswer } from '../../../policies/index.ts'
import type { ReviewFunction } from '../../approvals/function-reviewer.ts'
import { showAction } from '../show-call.ts'
import type { Choices } from './session-options.ts'
import { showToolCall, text } from './show-tool-call.ts'
import type { TurnUpdates } from './turn-updates.ts'

const answer = z.object({ outcome: z.object({ outcome: z.string(), optionId: z.string().optional() }) })
const once = { optionId: 'allow', name: 'Allow', kind: 'allow_once' }
const reject = { optionId: 'reject', name: 'Reject', kind: 'reject_once' }

/** The session in which questions are asked. */
type Session = {
  readonly place: { readonly workspace: string }
  readonly choices: Choices
  readonly always: Set<string>
  readonly choose: (id: string, value: string) => void
  readonly ask: (toolCall: object, options: readonly object[], signal: AbortSignal) => Promise<unknown>
}

/** Answers the Guardian's questions as the mode says or the client answers. The Guardian asks only about what no rule forbids. */
export function askPermission(session: Session, updates: TurnUpdates): ReviewFunction {
  const { choices, always } = session
  const cwd = session.place.workspace
  return async ({ action, subject, reason, asksFor }, { signal = new AbortController().signal }) => {
    const allowed = (why: string): ReviewerAnswer => ({ outcome: 'allowed', reason: why })
    const denied = (why: string): ReviewerAnswer => ({ outcome: 'denied', reason: why })
    if (choices.mode === 'edits' && action.type === 'patch' && asksFor === 'mode')
      return allowed('The mode allows edits.')
    if (choices.mode === 'plan' && action.type !== 'plan') return denied('In the mode plan, nothing may be changed.')
    const same = sameAgain(action, asksFor)
    if (same !== undefined && always.has(same.key)) return allowed('The client has allowed it for the session.')
    // Who decides sees the whole command.
    const calls = showAction(action, updates.calls.get(subject ?? ''), cwd)
    const { content, ...shown } = showToolCall(calls, cwd, Infinity)
    const call = { status: 'pending', ...shown, content: [...content, text(reason)] }
    const forSession = same === undefined ? [] : [{ optionId: 'always', name: same.name, kind: 'allow_always' }]
    const asked = await session.ask(
      { toolCallId: subject ?? randomUUID(), ...call },
      [once, ...forSession, reject],
      signal,
    )
    const { outcome, optionId } = answer.safeParse(asked).data?.outcome ?? {}
    const chosen = outcome === 'selected' ? optionId : undefined
    if (chosen === 'always' && same !== undefined) always.add(same.key)
    else if (chosen !== 'allow') return denied('The person at the client rejected it, or gave no valid answer.')
    if (action.type === 'plan') session.choose('mode', 'ask')
    return allowed('The person at the client allowed it.')
  }
}

/** What counts as the same action later in the session, and how its permission is called; undefined if each is to be asked about. */
function sameAgain(action: Action, asksFor: string): { readonly key: string; readonly name: string } | undefined {
  const same = (name: string, ...parts: readonly unknown[]) => ({ key: JSON.stringify([action.type, ...parts]), name })
  if (action.type === 'patch' && asksFor === 'mode') return same('Always allow edits')
  if (action.type === 'exec' && action.escalation === undefined)
    return same('Always allow this command', action.argv, action.cwd)
  if (action.type === 'mcp') return same(`Always allow ${action.tool} of ${action.server}`, action.server, action.tool)
  if (action.type !== 'network') return undefined
  return same(`Always allow ${action.host}`, action.host, action.port, action.protocol, action.sandboxed)
}
