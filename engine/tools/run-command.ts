import { resolve } from 'node:path'
import { describeGrant, type Action, type Approved, type Grant, type Verdict } from '../../policies/index.ts'
import { SandboxError } from '../../sandbox/index.ts'
import { cleanOutput } from '../text/clean.ts'
import { OutputBuffer } from '../text/output-buffer.ts'
import { shellJoin } from '../text/shell-join.ts'
import { answerCommand, describeCommand, shownOutput, type FinishedCommand } from './command-result.ts'
import { denied, eventVerdict } from './denied.ts'
import { grantsAskedFor, grantsForDenials, grantsSeenIn, type AskedPermissions } from '../grants/grants.ts'
import { onlyReads } from './only-reads.ts'
import type { ToolContext, ToolPlace, ToolResult } from './tool.ts'

/** A command as a call asks for it. */
export type CommandRequest = {
  readonly argv: readonly [string, ...string[]]
  readonly workdir?: string | undefined
  readonly timeout_ms?: number | undefined
  readonly max_output_tokens?: number | undefined
  readonly sandbox_permissions?: 'use_default' | 'require_escalated' | undefined
  readonly justification?: string | undefined
  readonly prefix_rule?: readonly string[] | undefined
  readonly additional_permissions?: AskedPermissions | undefined
}

type ExecAction = Extract<Action, { type: 'exec' }>

const defaultTimeoutMs = 120_000
/** Kept of one command's output; what a program prints beyond it is counted and dropped. */
const outputLimitBytes = 4 * 1024 * 1024
/** How often a command is run again with more: what it needs next shows only then. */
const mostRetries = 3

/**
 * Takes a command through the one path: the Guardian's review, the sandbox, and back as text for the model. What the sandbox
 * was proven to refuse is asked for by name where the mode or the call asks for that, and the command runs again in a sandbox
 * that is wider by just what was granted.
 *
 * @param ignored argument names that the call had and that mean nothing here; the answer names them
 */
export async function runCommand(
  request: CommandRequest,
  ignored: readonly string[],
  context: ToolContext,
): Promise<ToolResult> {
  const notes: string[] = []
  let action = actionOf(request, context)
  let attempt = await runAttempt(action, request, context)
  for (let retry = 0; retry < mostRetries && attempt.kind === 'finished'; retry++) {
    const wider = widerAction(action, attempt.finished, context)
    if (wider === undefined) break
    const asked = (wider.escalation?.grants ?? []).map(describeGrant).join(', ')
    const again = await runAttempt(wider, request, context)
    if (again.kind !== 'finished') {
      notes.push(`The Guardian was asked to allow ${asked}. ${again.result.output}`)
      if (again.result.abort === true) return again.result
      break
    }
    notes.push(`It ran again, with ${asked} allowed: the sandbox had refused that.`)
    action = wider
    attempt = again
  }
  if (attempt.kind !== 'finished') return attempt.result
  const answer = answerCommand(attempt.finished, { maxTokens: request.max_output_tokens, ignored }, context)
  return notes.length === 0 ? answer : { ...answer, output: `${answer.output}\n${notes.join('\n')}` }
}

/** Whether a command is proven to only read, and asks for no more than that. */
export function isReadOnly(request: CommandRequest, { workspace }: ToolPlace): boolean {
  if (isEscalated(request)) return false
  return onlyReads(request.argv, resolve(workspace, request.workdir ?? '.'))
}

function isEscalated(request: CommandRequest): boolean {
  return request.sandbox_permissions === 'require_escalated' || request.additional_permissions !== undefined
}

/** What a call asks for, as an action. What it wants beyond the sandbox is named as far as that can be told. */
function actionOf(request: CommandRequest, context: ToolContext): ExecAction {
  const { policy } = context.sandbox
  const cwd = resolve(context.workspace, request.workdir ?? '.')
  const confined = isReadOnly(request, context) && policy.mode === 'workspace-write'
  const plain: ExecAction = {
    type: 'exec',
    argv: request.argv,
    cwd,
    // Confined to what it was proven to do, it may run beside others whatever the proof is worth.
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
      ...(grants.length === 0 || context.widening === undefined ? {} : { grants }),
      ...(prefixRule === undefined ? {} : { prefixRule }),
    },
  }
}

/** The same command with what the sandbox refused it; undefined where nothing more is to be asked for, or nobody could say yes. */
function widerAction(action: ExecAction, { result }: FinishedCommand, context: ToolContext): ExecAction | undefined {
  const { guardian, sandbox, widening, signal } = context
  if (widening === undefined || signal.aborted) return undefined
  if (guardian.mode !== 'on-failure' && action.escalation === undefined) return undefined
  const before = action.escalation?.grants ?? []
  const known = new Set(before.map((grant) => JSON.stringify(grant)))
  const more = grantsForDenials(result.denials, sandbox.policy).filter((grant) => !known.has(JSON.stringify(grant)))
  if (more.length === 0) return undefined
  const justification = action.escalation?.justification ?? 'The sandbox refused it.'
  const wider: ExecAction = { ...action, escalation: { justification, grants: [...before, ...more] } }
  const { decision } = guardian.assess(wider)
  return decision === 'allow' || (decision === 'ask' && guardian.canAsk) ? wider : undefined
}

type Attempt =
  | { readonly kind: 'finished'; readonly finished: FinishedCommand }
  /** Refused, or not started. */
  | { readonly kind: 'not-run'; readonly result: ToolResult }

/** One review and one run of a command, as one item. */
async function runAttempt(action: ExecAction, request: CommandRequest, context: ToolContext): Promise<Attempt> {
  const item = context.startItem({
    type: 'command_execution',
    command: shellJoin(action.argv),
    aggregated_output: '',
    exit_code: null,
    status: 'in_progress',
    call_id: context.callId,
    cwd: action.cwd,
  })
  const { verdict, approved } = await context.guardian.review(action, {
    signal: context.signal,
    subject: context.callId,
  })
  if (approved === undefined) {
    item.complete({ status: 'declined', verdict: eventVerdict(verdict) })
    return { kind: 'not-run', result: denied(verdict) }
  }
  const granted = (approved.escalation?.grants ?? []).map(describeGrant)
  try {
    const finished = await execute(approved, verdict, request, context)
    item.complete({
      ...describeCommand(finished, context),
      verdict: eventVerdict(verdict),
      ...(granted.length === 0 ? {} : { granted }),
    })
    return { kind: 'finished', finished }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    item.complete({ status: 'failed', aggregated_output: error.message, verdict: eventVerdict(verdict) })
    const broken = error.code === 'setup-failed'
    return {
      kind: 'not-run',
      result: { ok: false, output: `The command was not started: ${error.message}`, broken },
    }
  }
}

/** Runs what was approved, and only that: the command's words and what it is granted come from the approved action. */
async function execute(
  approved: Approved<ExecAction>,
  verdict: Verdict,
  request: CommandRequest,
  context: ToolContext,
): Promise<FinishedCommand> {
  const [program, ...words] = approved.argv
  if (program === undefined) throw new TypeError('an approved command has at least one word')
  const grants: readonly Grant[] = approved.escalation?.grants ?? []
  if (verdict.holds === 'run') context.widening?.keep(grants)
  const sandbox = (await context.widening?.sandboxFor(grants)) ?? context.sandbox
  const child = sandbox.spawn({
    argv: [program, ...words],
    cwd: approved.cwd,
    timeoutMs: request.timeout_ms ?? defaultTimeoutMs,
    signal: context.signal,
    readOnly: approved.sandbox === 'read-only',
  })
  const buffer = new OutputBuffer(outputLimitBytes)
  child.stdout.on('data', (bytes: Buffer) => buffer.push(bytes))
  child.stderr.on('data', (bytes: Buffer) => buffer.push(bytes))
  const result = await child.result
  const bytes = buffer.toBytes()
  const output = cleanOutput(bytes)
  const isLong = output.length > shownOutput(request.max_output_tokens)
  return { result, mode: approved.sandbox, output, file: isLong ? context.keepOutput(bytes) : undefined }
}
