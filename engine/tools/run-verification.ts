import type { Verdict } from '../../policies/index.ts'
import { SandboxError, type ExecResult } from '../../sandbox/index.ts'
import type { VerificationItem } from '../core/events.ts'
import { sanitizeOutput } from '../core/text/sanitize-output.ts'
import type { ExecAction } from './command-action.ts'
import { answerCommand, describeCommand, isShownWhole, type FinishedCommand } from './command-result.ts'
import { LiveCommand } from './command-sessions.ts'
import { missingPrograms } from './missing-programs.ts'
import { eventVerdict } from './denied-result.ts'
import type { ToolContext, ToolPlace } from './tool.ts'

/** The result of a command given with `--verify`. */
export type VerificationResult =
  | { readonly type: 'passed' }
  /**
   * `words`: what the model is told, namely how the command ended and its output, shortened if it is too long. `end`: how the command ended, in a few
   * words.
   */
  | { readonly type: 'failed'; readonly words: string; readonly end: string }
  /** The command was not allowed to run, which is not the model's fault. */
  | { readonly type: 'refused'; readonly why: string }
  | { readonly type: 'not-started'; readonly why: string }

/** Watches what a command does, in a sandbox that shows the same files as the run's. */
type VerificationWatch = {
  readonly sandbox: ToolContext['sandbox']
  /** The argument vector that runs an approved command. */
  readonly argv: (approved: readonly [string, ...string[]]) => readonly [string, ...string[]]
  /** Receives what the command prints. */
  readonly push: (stream: unknown, bytes: Buffer) => void
}

/** Creates the action that the Guardian reviews for a command given with `--verify`. */
export function verificationAction(command: string, { workspace, sandbox }: ToolPlace): ExecAction {
  return {
    type: 'exec',
    argv: [sandbox.shell, '-c', command],
    cwd: workspace,
    // The read-only sandbox is never used, even if the command only reads: the command runs as the user configured it.
    sandbox: sandbox.policy.mode,
  }
}

/**
 * Runs a command given with `--verify` in the run's sandbox. It is the user's own command, so it needs no approval. However, it doesn't run if a rule
 * forbids it, and it never gets permissions beyond the sandbox. Its time limit is that of the sandbox's policy.
 *
 * @param attempt counted from 1
 * @param context its `review` must treat the command as the user's own
 * @param watch watches the command. Default: nothing does
 */
export async function runVerification(
  command: string,
  attempt: number,
  context: ToolContext,
  watch?: VerificationWatch,
): Promise<VerificationResult> {
  const { state, signal, workspace, startItem, variables } = context
  const sandbox = watch?.sandbox ?? context.sandbox
  const item = startItem({
    type: 'verification',
    command,
    attempt,
    aggregated_output: '',
    exit_code: null,
    status: 'in_progress',
  })
  let verdict: Verdict | undefined
  try {
    const action = verificationAction(command, context)
    const review = await context.review(action)
    verdict = review.verdict
    if (review.approved === undefined) {
      item.complete({ status: 'declined', verdict: eventVerdict(verdict) })
      return { type: 'refused', why: verdict.reason }
    }
    await state.changes?.begin(context)
    const [program = '', ...words] = review.approved.argv
    const child = sandbox.spawn({
      argv: watch?.argv([program, ...words]) ?? [program, ...words],
      cwd: workspace,
      ...(variables === undefined ? {} : { env: variables }),
    })
    item.began()
    if (watch !== undefined) {
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => watch.push(stream, bytes))
    }
    const live = new LiveCommand(child, sandbox.policy.mode, sandbox, command, workspace)
    item.tail(() => state.mask(sanitizeOutput(live.tail())))
    const finished = finish(live, await ended(live, signal), context)
    // A verification item has all fields of a command's item except these four.
    const { call_id: _, cwd: __, type: ___, command: ____, ...fields } = describeCommand(finished, context)
    const closing: Partial<VerificationItem> = { ...fields, verdict: eventVerdict(verdict) }
    item.complete(closing)
    if (fields.status === 'completed') return { type: 'passed' }
    const missing = await missingPrograms(action, finished.result, context, sandbox)
    if (missing.length > 0) return { type: 'not-started', why: whyMissing(missing) }
    return {
      type: 'failed',
      words: answerCommand(finished, { maxTokens: undefined, ignored: [] }, context).output,
      end: describeBriefly(finished.result),
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const start = error instanceof SandboxError ? { started: false } : {}
    const judged = verdict === undefined ? {} : { verdict: eventVerdict(verdict) }
    item.complete({ status: 'failed', aggregated_output: why, ...start, ...judged })
    if (!(error instanceof SandboxError)) throw error
    return { type: 'not-started', why }
  }
}

function whyMissing(names: readonly string[]): string {
  const which = names.length === 1 ? 'the program' : 'the programs'
  return `${which} ${names.join(', ')} can't be found in the sandbox. Install what is missing, or name the command by a path that commands see: agent doctor --view lists them.`
}

/** Waits until the command ends. If the run is cancelled, the command is killed. */
async function ended(live: LiveCommand, signal: AbortSignal): Promise<ExecResult> {
  const give = (): void => live.kill()
  signal.addEventListener('abort', give, { once: true })
  if (signal.aborted) give()
  try {
    return await live.result
  } finally {
    signal.removeEventListener('abort', give)
  }
}

function finish(live: LiveCommand, result: ExecResult, context: ToolContext): FinishedCommand {
  const bytes = live.output
  const output = context.state.mask(sanitizeOutput(bytes))
  const file = isShownWhole(output, undefined, context) ? undefined : context.state.kept.keep(bytes)
  return { result, mode: live.mode, output, file }
}

function describeBriefly(result: ExecResult): string {
  switch (result.status) {
    case 'exited':
      return `exit code ${result.code}`
    case 'signaled':
      return `killed by ${result.signal}`
    case 'timed-out':
      return `killed after ${result.afterMs} ms`
    case 'cancelled':
      return 'killed before it finished'
    default:
      return result satisfies never
  }
}
