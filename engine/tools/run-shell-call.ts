import { describeGrant } from '../../policies/index.ts'
import { SandboxError, type ExecResult } from '../../sandbox/index.ts'
import { sanitizeOutput } from '../core/text/sanitize-output.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import { faultIn } from '../core/disk-fault.ts'
import { actionOf, widerAction, type CommandRequest, type ExecAction } from './command-action.ts'
import { answerCommand, answerRunning, describeCommand, isShownWhole, type FinishedCommand } from './command-result.ts'
import { mostSessions, type LiveCommand } from './command-sessions.ts'
import { denied, eventVerdict } from './denied-result.ts'
import { start, waitFor, yieldOf } from './start-command.ts'
import type { ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** How many times a command may be run again with more permissions. Each attempt may reveal that another permission is missing. */
const mostRetries = 3

/**
 * Runs a command: the Guardian reviews it, the sandbox runs it, and the result is returned as text for the model. If the sandbox denies something and
 * the Guardian's mode or the call allows a request for more permissions, the Guardian is asked to permit exactly what was denied, and the command
 * runs again in a sandbox that permits it.
 *
 * @param ignored unknown arguments of the call, which the result mentions
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
    notes.push(
      `The sandbox denied something that the command needed. The command ran again, with permission for ${asked}.`,
    )
    action = wider
    attempt = again
  }
  if (attempt.kind !== 'finished') return attempt.result
  const answer = answerCommand(attempt.finished, { maxTokens: request.max_output_tokens, ignored }, context)
  return notes.length === 0 ? answer : { ...answer, output: `${answer.output}\n${notes.join('\n')}` }
}

type Attempt =
  | { readonly kind: 'finished'; readonly finished: FinishedCommand }
  /** The command was refused, could not be started, or is still running. `result` is the answer to the call. */
  | { readonly kind: 'not-run' | 'running'; readonly result: ToolResult }

/** Reviews a command and runs it once. The event stream reports both as one item. */
async function runAttempt(action: ExecAction, request: CommandRequest, context: ToolContext): Promise<Attempt> {
  const lasting = yieldOf(request) !== undefined
  const begun = await begin(action, request, context, lasting)
  if (begun.kind === 'not-run') return begun
  const { command, complete, fail } = begun
  let result: ExecResult | undefined
  try {
    result = await waitFor(command, request, context)
  } catch (error) {
    return fail(error)
  }
  if (result === undefined) return goOn(begun, request, context)
  const finished = finish(command, result, request, context)
  complete(finished)
  return { kind: 'finished', finished }
}

/** A command that has been approved and started. */
type Begun = {
  readonly kind: 'begun'
  readonly command: LiveCommand
  /** Completes the command's item. */
  readonly complete: (finished: FinishedCommand) => void
  /** Completes the item of a command that could not be set up, or whose end isn't known. */
  readonly fail: (error: unknown) => NotRun
}

type NotRun = { readonly kind: 'not-run'; readonly result: ToolResult }

/** Reviews and starts a command. The event stream reports both as one item. With `lasting`, the command may continue after its call has returned. */
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
  // An approval applies to the files that the paths name now, so these files are held open until the decision.
  const asked = context.escalation?.ask(action.escalation?.grants ?? [])
  const { verdict, approved } = await context.review(action)
  if (approved === undefined) {
    asked?.release()
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
    if (!(error instanceof SandboxError)) {
      if (started === undefined) throw error
      const output = context.state.mask(sanitizeOutput(started.output))
      item.complete({ status: 'failed', aggregated_output: output, verdict: eventVerdict(verdict) })
      return { kind: 'not-run', result: lost(error, output) }
    }
    item.complete({
      status: 'failed',
      started: false,
      aggregated_output: error.message,
      verdict: eventVerdict(verdict),
    })
    const broken = error.code === 'setup-failed'
    return {
      kind: 'not-run',
      result: { ok: false, output: `The command was not started: ${error.message}`, broken },
    }
  }
  let started: LiveCommand | undefined
  try {
    const command = await start(approved, verdict, asked, request, context, lasting)
    started = command
    item.began()
    item.tail(() => context.state.mask(sanitizeOutput(command.tail())))
    return { kind: 'begun', command, complete, fail }
  } catch (error) {
    return fail(error)
  } finally {
    asked?.release()
  }
}

/** A command that runs in the background. */
type BackgroundCommand = {
  readonly kind: 'running'
  /** The id of the command's session, which `write_stdin` takes. */
  readonly id: number
  readonly command: LiveCommand
  /** Resolves when the command has ended and its item is complete. */
  readonly finished: Promise<FinishedCommand>
}

/**
 * Reviews and starts a command, as `runCommand` does, but doesn't wait for it. The command becomes one of the run's sessions and ends no later than
 * the run.
 *
 * @returns the running command, or why it was not started
 */
export async function startCommand(request: CommandRequest, context: ToolContext): Promise<BackgroundCommand | NotRun> {
  const begun = await begin(actionOf(request, context), request, context, true)
  return begun.kind === 'not-run'
    ? begun
    : { kind: 'running', command: begun.command, ...keep(begun, request, context) }
}

/** Adds a command to the run's sessions. */
function keep(
  { command, complete, fail }: Begun,
  request: CommandRequest,
  context: ToolContext,
): Pick<BackgroundCommand, 'id' | 'finished'> {
  const id = context.state.sessions.add(command)
  const finished = command.result.then(
    (result) => {
      const done = finish(command, result, request, context)
      complete(done)
      return done
    },
    (error: unknown) => {
      fail(error)
      throw error
    },
  )
  // If the command could not be set up, the failure is reported when the model asks for the command's output.
  finished.catch(() => undefined)
  return { id, finished }
}

/** Answers a call whose command is still running. The command's item is completed later, when the command ends. */
async function goOn(begun: Begun, request: CommandRequest, context: ToolContext): Promise<Attempt> {
  const { command } = begun
  const { id } = keep(begun, request, context)
  const answer = {
    id,
    output: context.state.mask(sanitizeOutput(command.takeUnread())),
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
  const output = context.state.mask(sanitizeOutput(bytes))
  const isWhole = isShownWhole(output, request.max_output_tokens, context)
  return { result, mode: command.mode, output, file: isWhole ? undefined : context.state.kept.keep(bytes) }
}

/** The result of a command that was started, and whose end isn't known because of an internal error. */
function lost(error: unknown, output: string): ToolResult {
  const why = error instanceof Error ? error.message : String(error)
  const said = output.trim() === '' ? '' : `\nOutput until then:\n${output}`
  return {
    ok: false,
    commandFailed: true,
    output: `The command was started, but how it ended isn't known: ${why}. It may have taken effect: look before you run it again.${said}`,
    ...faultIn(error),
  }
}

function tooMany({ state }: ToolContext): string {
  return `${mostSessions} commands are already running (${state.sessions.ids.join(', ')}): end some with kill_session first.`
}
