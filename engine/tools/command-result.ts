import { renderDenial, type Denial, type ExecResult } from '../../sandbox/index.ts'
import type { SandboxMode } from '../../policies/index.ts'
import type { CommandItem } from '../core/events.ts'
import { remedyAsConfig } from '../core/remedies.ts'
import { readOnIn } from '../core/text/fit-output.ts'
import { outputLimitFor, withNotes } from '../core/text/output-limits.ts'
import { escapeInvisibleInLine } from '../core/text/escape-invisible.ts'
import { fits, truncateMiddle, truncateOutput, type OutputLimit } from '../core/text/truncate.ts'
import { notShownWords } from '../core/text/not-shown.ts'
import { overlayHints } from './overlay-hints.ts'
import type { ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** A command that has ended. */
export type FinishedCommand = {
  readonly result: ExecResult
  /** The mode of the sandbox that confined the command. In a `workspace-write` run, it is `read-only` if the command was proven to only read. */
  readonly mode: SandboxMode
  /** The sanitized output. */
  readonly output: string
  /** The file with the full output; undefined if the output is short enough to be shown in full. */
  readonly file: string | undefined
}

/**
 * The maximum number of characters of a command's output in one event. The limit keeps a line of the stream below 64 KiB even if every character
 * is escaped.
 */
const eventOutputLimit = 8 * 1024

/**
 * Whether an output is shown in full, both to the model and in the event.
 *
 * @param tokens the maximum number of tokens that the call asked for; undefined for the default
 */
export function isShownWhole(output: string, tokens: number | undefined, { state }: ToolContext): boolean {
  return output.length <= eventOutputLimit && fits(output, outputLimitFor(tokens, state.limits))
}

/** Returns the fields with which a command's item is completed. */
export function describeCommand({ result, output, file }: FinishedCommand, context: ToolContext): Partial<CommandItem> {
  const endings = { signaled: 'signal', 'timed-out': 'timeout', cancelled: 'cancelled' } as const
  return {
    aggregated_output: truncateMiddle(output, eventOutputLimit, file).text,
    exit_code: result.status === 'exited' ? result.code : null,
    status: result.status === 'exited' && result.code === 0 ? 'completed' : 'failed',
    duration_ms: Math.round(result.durationMs),
    sandbox: context.sandbox.backend,
    ...(result.status === 'exited' ? {} : { ended_by: endings[result.status] }),
    ...(file === undefined ? {} : { output_file: file }),
    ...(result.denials.length === 0 ? {} : { denials: result.denials.map(eventDenial) }),
  }
}

function eventDenial({ remedy, ...denial }: Denial): NonNullable<CommandItem['denials']>[number] {
  return { ...denial, how_to_allow: remedyAsConfig(remedy) }
}

/** The options of a call that affect the result that the model is shown. */
type Answering = {
  /** The maximum number of tokens of the output; undefined for the default. */
  readonly maxTokens: number | undefined
  /** Unknown arguments of the call, which the result mentions. */
  readonly ignored: readonly string[]
}

/** Renders a command's result for the model: how the command ended, how long it took, its output, and the denials. */
export function answerCommand(
  { result, mode, output, file }: FinishedCommand,
  { maxTokens, ignored }: Answering,
  context: ToolContext,
): ToolResult {
  const limit = outputLimitFor(maxTokens, context.state.limits)
  const lines = [describeEnd(result), `Wall time: ${(result.durationMs / 1000).toFixed(1)} seconds`]
  if (ignored.length > 0) lines.push(`Ignored unknown arguments: ${ignored.join(', ')}`)
  const shown = showOutput(output, limit, file, context)
  lines.push('Output:', shown.text)
  for (const denial of result.denials) {
    lines.push(`[sandbox: ${mode}] ${escapeInvisibleInLine(renderDenial(denial, remedyAsConfig))}`)
  }
  const hasFailed = result.status !== 'exited' || result.code !== 0
  if (hasFailed) lines.push(...overlayHints(output, context.sandbox.policy.views))
  const notShown = hasFailed ? notShownWords(context.state.notShown, context.workspace) : undefined
  if (notShown !== undefined) lines.push(`[${escapeInvisibleInLine(notShown)}]`)
  if (result.denials.length > 0 && mode !== context.sandbox.policy.mode) {
    lines.push('The command was classified as read-only, so it ran in a sandbox that permits no writing.')
  }
  return {
    ok: result.status === 'exited' && result.code === 0,
    ...(result.status === 'exited' && result.code === 0 ? {} : { commandFailed: true }),
    output: lines.join('\n'),
    // The output has already been cut to its limit. The limit is raised here, so that the short lines around the output don't count towards it.
    limit: withNotes(limit),
    ...(shown.file === undefined ? {} : { outputFile: shown.file }),
  }
}

/** A command that continues after its call has returned. */
type Running = {
  readonly id: number
  /** The output that no earlier call has returned. */
  readonly output: string
  readonly denials: readonly Denial[]
  readonly waitedMs: number
  readonly maxTokens: number | undefined
}

/** Renders the state of a running command for the model: its session ID, and the output that no earlier call has returned. */
export function answerRunning({ id, output, denials, waitedMs, maxTokens }: Running, context: ToolContext): ToolResult {
  const limit = outputLimitFor(maxTokens, context.state.limits)
  const lines = [
    `Process running with session ID ${id}`,
    `Wall time: ${(waitedMs / 1000).toFixed(1)} seconds`,
    'Output:',
    showOutput(output, limit, undefined, context).text,
    ...denials.map((denial) => escapeInvisibleInLine(renderDenial(denial, remedyAsConfig))),
  ]
  return { ok: true, output: lines.join('\n'), limit: withNotes(limit) }
}

/** Shows as much of an output as the limit allows. If the output is cut, the full output is stored in a file. */
function showOutput(
  output: string,
  limit: OutputLimit,
  known: string | undefined,
  { state }: ToolContext,
): { readonly text: string; readonly file: string | undefined } {
  const file = known ?? (fits(output, limit) ? undefined : state.kept.keep(Buffer.from(output)))
  const { text } = truncateOutput(output, limit, file === undefined ? undefined : readOnIn(file))
  return { text: text.replace(/\n$/, ''), file }
}

/** Describes how a command ended, in one line. */
export function describeEnd(result: ExecResult): string {
  switch (result.status) {
    case 'exited':
      return `Process exited with code ${result.code}`
    case 'signaled':
      return `Process was killed by ${result.signal}`
    case 'timed-out':
      return `Process was killed with everything it started: it ran longer than ${result.afterMs} ms`
    case 'cancelled':
      return 'Process was killed before it finished'
    default:
      return result satisfies never
  }
}
