import { renderDenial, type Denial, type ExecResult } from '../../sandbox/index.ts'
import type { SandboxMode } from '../../policies/index.ts'
import type { CommandItem } from '../core/events.ts'
import { remedyAsConfig } from '../core/remedies.ts'
import { readOnIn } from '../core/text/fit-output.ts'
import { outputLimitFor, withNotes } from '../core/text/output-limits.ts'
import { escapeInvisibleInLine } from '../core/text/escape-invisible.ts'
import { fits, truncateMiddle, truncateOutput, type OutputLimit } from '../core/text/truncate.ts'
import { overlayHints } from './overlay-hints.ts'
import type { ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** A command that has run. */
export type FinishedCommand = {
  readonly result: ExecResult
  /** The sandbox that confined it: a stricter one than the run's where the command was proven to only read. */
  readonly mode: SandboxMode
  /** Output made harmless. */
  readonly output: string
  /** The file with the output when it is too long to be shown whole. */
  readonly file: string | undefined
}

/** The limit for one command's output in one event: a line of the stream stays far below 64 KiB even when every byte is escaped. */
const eventOutputLimit = 8 * 1024

/**
 * Whether an output is shown whole, to the model and in the event.
 *
 * @param tokens what the call asks for; undefined is the default
 */
export function isShownWhole(output: string, tokens: number | undefined, { state }: ToolContext): boolean {
  return output.length <= eventOutputLimit && fits(output, outputLimitFor(tokens, state.limits))
}

/** The closing fields of the command's item. */
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

/** The call's options about its answer. */
type Answering = {
  /** How much output comes back; undefined is the default. */
  readonly maxTokens: number | undefined
  /** Unknown argument names of the call; the answer names them. */
  readonly ignored: readonly string[]
}

/** The call's result for the model: how it ended, how long it took, the output, and the denials. */
export function answerCommand(
  { result, mode, output, file }: FinishedCommand,
  { maxTokens, ignored }: Answering,
  context: ToolContext,
): ToolResult {
  const limit = outputLimitFor(maxTokens, context.state.limits)
  const lines = [describeEnd(result), `Wall time: ${(result.durationMs / 1000).toFixed(1)} seconds`]
  if (ignored.length > 0) lines.push(`Ignored, not known here: ${ignored.join(', ')}`)
  const shown = showOutput(output, limit, file, context)
  lines.push('Output:', shown.text)
  for (const denial of result.denials) {
    lines.push(`[sandbox: ${mode}] ${escapeInvisibleInLine(renderDenial(denial, remedyAsConfig))}`)
  }
  const hasFailed = result.status !== 'exited' || result.code !== 0
  if (hasFailed) lines.push(...overlayHints(output, context.sandbox.policy.views))
  if (result.denials.length > 0 && mode !== context.sandbox.policy.mode) {
    lines.push('It was taken for a command that only reads, so it could write nothing.')
  }
  return {
    ok: result.status === 'exited' && result.code === 0,
    ...(result.status === 'exited' && result.code === 0 ? {} : { commandFailed: true }),
    output: lines.join('\n'),
    // The output proper is cut above; what surrounds it is short and must not push it out.
    limit: withNotes(limit),
    ...(shown.file === undefined ? {} : { outputFile: shown.file }),
  }
}

/** A command that continues after its call was answered. */
type Running = {
  readonly id: number
  /** Its output since the last look. */
  readonly output: string
  readonly denials: readonly Denial[]
  readonly waitedMs: number
  readonly maxTokens: number | undefined
}

/** The same for a command that is still running: how to continue with it, and its output. */
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

/** As much of an output as the limit allows; the whole of one that is cut is stored. */
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

/** How a command ended, in one line. */
export function describeEnd(result: ExecResult): string {
  switch (result.status) {
    case 'exited':
      return `Process exited with code ${result.code}`
    case 'signaled':
      return `Process was killed by ${result.signal}`
    case 'timed-out':
      return `Process was killed with everything it started: it ran longer than ${result.afterMs} ms`
    case 'cancelled':
      return 'Process was killed before its end'
    default:
      return result satisfies never
  }
}
