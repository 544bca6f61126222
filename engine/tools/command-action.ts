import { resolve } from 'node:path'
import type { Action } from '../../policies/index.ts'
import {
  grantsAskedFor,
  grantsForDenials,
  grantsSeenIn,
  namedBy,
  type AskedPermissions,
} from '../escalation/find-grants.ts'
import type { FinishedCommand } from './command-result.ts'
import { onlyReads } from './only-reads.ts'
import type { ToolContext, ToolPlace } from './tool.ts'

/** A command as requested by a call. */
export type CommandRequest = {
  readonly argv: readonly [string, ...string[]]
  readonly workdir?: string | undefined
  readonly timeout_ms?: number | undefined
  /** The time after which the call returns even if the command is still running. Absent: the call waits until the command ends. */
  readonly yield_time_ms?: number | undefined
  readonly tty?: boolean | undefined
  readonly max_output_tokens?: number | undefined
  readonly sandbox_permissions?: 'use_default' | 'require_escalated' | undefined
  readonly justification?: string | undefined
  readonly prefix_rule?: readonly string[] | undefined
  readonly additional_permissions?: AskedPermissions | undefined
}

/** A command as the Guardian reviews it. */
export type ExecAction = Extract<Action, { type: 'exec' }>

/** Whether a command is proven to only read, and asks for no permissions beyond the sandbox. */
export function isReadOnly(request: CommandRequest, { workspace }: ToolPlace): boolean {
  if (isEscalated(request)) return false
  return onlyReads(request.argv, resolve(workspace, request.workdir ?? '.'))
}

function isEscalated(request: CommandRequest): boolean {
  return request.sandbox_permissions === 'require_escalated' || request.additional_permissions !== undefined
}

/** Converts a call to an action. Permissions beyond the sandbox are listed individually as far as possible. */
export function actionOf(request: CommandRequest, context: ToolContext): ExecAction {
  const { policy } = context.sandbox
  const cwd = resolve(context.workspace, request.workdir ?? '.')
  const confined = isReadOnly(request, context) && policy.mode === 'workspace-write'
  const plain: ExecAction = {
    type: 'exec',
    argv: request.argv,
    cwd,
    ...(cwd === context.workspace ? {} : { workspace: context.workspace }),
    // In the read-only sandbox, it is safe to run the command in parallel with others, even if it was wrongly classified as read-only.
    sandbox: confined ? 'read-only' : policy.mode,
  }
  if (!isEscalated(request)) return plain
  const { additional_permissions: asked, prefix_rule: prefixRule, justification = '' } = request
  const named = asked === undefined ? [] : grantsAskedFor(asked, cwd, policy)
  const grants =
    asked === undefined ? grantsSeenIn(context.guardian.assess(plain).analysis, cwd, context.sandbox) : named
  return {
    ...plain,
    escalation: {
      justification,
      ...(grants.length === 0 || context.escalation === undefined ? {} : { grants }),
      ...(prefixRule === undefined ? {} : { prefixRule }),
    },
  }
}

/**
 * Returns an action that runs the command again with permission for what the sandbox denied. Undefined if there is nothing more to request, if it
 * could not be approved or granted, if the call was cancelled, or if the approval mode isn't `on-failure` and the action asked for no permissions.
 */
export function widerAction(
  action: ExecAction,
  { result }: FinishedCommand,
  context: ToolContext,
): ExecAction | undefined {
  const { guardian, sandbox, escalation, signal } = context
  if (escalation === undefined || signal.aborted) return undefined
  if (guardian.mode !== 'on-failure' && action.escalation === undefined) return undefined
  const before = action.escalation?.grants ?? []
  const known = new Set(before.map((grant) => JSON.stringify(grant)))
  // If the command succeeded, only proven denials are considered: whatever else may have been denied, the command didn't need it.
  const succeeded = result.status === 'exited' && result.code === 0
  const names = succeeded ? () => false : namedBy(guardian.assess(action).analysis, action.cwd)
  const refused = grantsForDenials(result.denials, sandbox.policy, names)
  const more = refused.filter((grant) => !known.has(JSON.stringify(grant)))
  if (more.length === 0) return undefined
  const justification = action.escalation?.justification ?? 'The sandbox refused it.'
  const wider: ExecAction = { ...action, escalation: { justification, grants: [...before, ...more] } }
  const { decision } = guardian.assess(wider)
  return decision === 'allow' || (decision === 'ask' && guardian.canAsk) ? wider : undefined
}
