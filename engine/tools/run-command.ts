import { resolve } from 'node:path'
import { describeGrant, type Action, type Approved, type Grant, type Verdict } from '../../policies/index.ts'
import { SandboxError, type ExecResult } from '../../sandbox/index.ts'
import { cleanOutput } from '../text/clean.ts'
import { shellJoin } from '../text/shell-join.ts'
import { answerCommand, answerRunning, describeCommand, isShownWhole, type FinishedCommand } from './command-result.ts'
import { LiveCommand, mostSessions } from './command-sessions.ts'
import { denied, eventVerdict } from './denied.ts'
import { grantsAskedFor, grantsForDenials, grantsSeenIn, type AskedPermissions } from '../grants/grants.ts'
import { onlyReads } from './only-reads.ts'
import type { ToolContext, ToolPlace } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** A command as a call asks for it. */
export type CommandRequest = {
  readonly argv: readonly [string, ...string[]]
  readonly workdir?: string | undefined
  readonly timeout_ms?: number | undefined
  /** After which the call is answered though the command goes on. Absent: the call waits for its end. */
  readonly yield_time_ms?: number | undefined
  readonly tty?: boolean | undefined
  readonly max_output_tokens?: number | undefined
  readonly sandbox_permissions?: 'use_default' | 'require_escalated' | undefined
  readonly justification?: string | undefined
  readonly prefix_rule?: readonly string[] | undefined
  readonly additional_permissions?: AskedPermissions | undefined
}

type ExecAction = Extract<Action, { type: 'exec' }>

const defaultTimeoutMs = 120_000
/** A command with a terminal may wait for somebody to type. */
const terminalYieldMs = 10_000
const terminalSize = { columns: 120, rows: 40 }
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
  /** Refused, not started, or not at its end yet. */
  | { readonly kind: 'not-run' | 'running'; readonly result: ToolResult }

/** One review and one run of a command, as one item. */
async function runAttempt(action: ExecAction, request: CommandRequest, context: ToolContext): Promise<Attempt> {
  const lasting = yieldOf(request) !== undefined
  const begun = await begin(action, request, context, lasting)
  if (begun.kind === 'not-run') return begun
  const { command, complete, fail } = begun
  try {
    const result = await waitFor(command, request, context)
    if (result === undefined) return await goOn(begun, request, context)
    const finished = finish(command, result, request, context)
    complete(finished)
    return { kind: 'finished', finished }
  } catch (error) {
    return fail(error)
  }
}

/** A command that has been approved and started. */
type Begun = {
  readonly kind: 'begun'
  readonly command: LiveCommand
  /** Completes its item. */
  readonly complete: (finished: FinishedCommand) => void
  /** Completes its item where it could not even be set up; throws what is a fault of ours. */
  readonly fail: (error: unknown) => NotRun
}

type NotRun = { readonly kind: 'not-run'; readonly result: ToolResult }

/** One review of a command, and its start, as one item. It may go on after its call was answered where it is `lasting`. */
async function begin(
  action: ExecAction,
  request: CommandRequest,
  context: ToolContext,
  lasting: boolean,
): Promise<Begun | NotRun> {
  if (lasting && context.state.sessions.size >= mostSessions) {
    return { kind: 'not-run', result: { ok: false, output: tooMany(context) } }
  }
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
  const complete = (finished: FinishedCommand): void =>
    item.complete({
      ...describeCommand(finished, context),
      verdict: eventVerdict(verdict),
      ...(granted.length === 0 ? {} : { granted }),
    })
  const fail = (error: unknown): NotRun => {
    if (!(error instanceof SandboxError)) throw error
    item.complete({ status: 'failed', aggregated_output: error.message, verdict: eventVerdict(verdict) })
    const broken = error.code === 'setup-failed'
    return {
      kind: 'not-run',
      result: { ok: false, output: `The command was not started: ${error.message}`, broken },
    }
  }
  try {
    return { kind: 'begun', command: await start(approved, verdict, request, context, lasting), complete, fail }
  } catch (error) {
    return fail(error)
  }
}

/** A command that goes on beside the run. */
type BackgroundCommand = {
  readonly kind: 'running'
  /** Its session's, for `write_stdin`. */
  readonly id: number
  readonly command: LiveCommand
  /** Resolves when it has ended, with what the model reads of it. Its item is complete then. */
  readonly finished: Promise<FinishedCommand>
}

/**
 * Takes a command through the same path and does not wait for it. It is one of the run's sessions, and ends with the run at the latest.
 *
 * @returns the running command, or why there is none
 */
export async function startCommand(request: CommandRequest, context: ToolContext): Promise<BackgroundCommand | NotRun> {
  const begun = await begin(actionOf(request, context), request, context, true)
  return begun.kind === 'not-run'
    ? begun
    : { kind: 'running', command: begun.command, ...keep(begun, request, context) }
}

/** Keeps a command among the sessions. */
function keep(
  { command, complete }: Begun,
  request: CommandRequest,
  context: ToolContext,
): Pick<BackgroundCommand, 'id' | 'finished'> {
  const id = context.state.sessions.add(command)
  const finished = command.result.then((result) => {
    const done = finish(command, result, request, context)
    complete(done)
    return done
  })
  // A command that could not even be set up is told of when it is asked for.
  finished.catch(() => undefined)
  return { id, finished }
}

/** Starts what was approved, and only that: the command's words and what it is granted come from the approved action. */
async function start(
  approved: Approved<ExecAction>,
  verdict: Verdict,
  request: CommandRequest,
  context: ToolContext,
  lasting: boolean,
): Promise<LiveCommand> {
  const [program, ...words] = approved.argv
  if (program === undefined) throw new TypeError('an approved command has at least one word')
  const grants: readonly Grant[] = approved.escalation?.grants ?? []
  if (verdict.holds === 'run') context.widening?.keep(grants)
  const sandbox = (await context.widening?.sandboxFor(grants)) ?? context.sandbox
  // One that may go on is limited by the policy alone, unless the call says otherwise.
  const timeoutMs = request.timeout_ms ?? (lasting ? undefined : defaultTimeoutMs)
  const child = sandbox.spawn({
    argv: [program, ...words],
    cwd: approved.cwd,
    ...(context.variables === undefined ? {} : { env: context.variables }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(request.tty === true ? { terminal: terminalSize } : {}),
    readOnly: approved.sandbox === 'read-only',
  })
  return new LiveCommand(child, approved.sandbox, sandbox)
}

/** How long a call waits for its command; undefined: to its end. */
function yieldOf({ yield_time_ms: ms, tty }: CommandRequest): number | undefined {
  return ms ?? (tty === true ? terminalYieldMs : undefined)
}

/** Waits for a command as long as its call does; while it does, giving up the call ends the command. */
async function waitFor(
  command: LiveCommand,
  request: CommandRequest,
  { signal }: ToolContext,
): Promise<ExecResult | undefined> {
  const give = (): void => command.kill()
  signal.addEventListener('abort', give, { once: true })
  if (signal.aborted) give()
  try {
    const ms = yieldOf(request)
    const result = ms === undefined ? await command.result : await command.endWithin(ms, signal)
    return result ?? (signal.aborted ? await command.result : undefined)
  } finally {
    signal.removeEventListener('abort', give)
  }
}

/** Answers the call of a command that has not ended. Its item is completed when it has. */
async function goOn(begun: Begun, request: CommandRequest, context: ToolContext): Promise<Attempt> {
  const { command } = begun
  const { id } = keep(begun, request, context)
  const answer = {
    id,
    output: context.state.mask(cleanOutput(command.takeUnread())),
    denials: await command.sandbox.inspect(),
    waitedMs: yieldOf(request) ?? 0,
    maxTokens: request.max_output_tokens,
  }
  return { kind: 'running', result: answerRunning(answer, context) }
}

function finish(
  command: LiveCommand,
  result: ExecResult,
  request: CommandRequest,
  context: ToolContext,
): FinishedCommand {
  const bytes = command.output
  const output = context.state.mask(cleanOutput(bytes))
  const isWhole = isShownWhole(output, request.max_output_tokens, context)
  return { result, mode: command.mode, output, file: isWhole ? undefined : context.state.kept.keep(bytes) }
}

function tooMany({ state }: ToolContext): string {
  return `${mostSessions} commands are running already (${state.sessions.ids.join(', ')}): end some with kill_session first.`
}
