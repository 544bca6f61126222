import { renderDenial, type Denial, type ExecResult } from '../../sandbox/index.ts'
import type { SandboxMode } from '../../policies/index.ts'
import type { CommandItem } from '../events.ts'
import { remedyAsConfig } from '../remedies.ts'
import { readOnIn } from '../text/fit-output.ts'
import { truncateMiddle } from '../text/truncate.ts'
import type { ToolContext, ToolResult } from './tool.ts'

/** A command that has run. */
export type FinishedCommand = {
  readonly result: ExecResult
  /** What it was confined to: less than the run is where it was proven to only read. */
  readonly mode: SandboxMode
  /** Output made harmless. */
  readonly output: string
  /** Where the output lies when it is too long to be shown whole. */
  readonly file: string | undefined
}

const defaultOutputTokens = 10_000
const bytesPerToken = 4
/** How the command ended, what the sandbox refused. */
const surroundingTokens = 4_000
/** Of one command's output in one event: a line of the stream stays far below 64 KiB even when every byte is escaped. */
const eventOutputLimit = 8 * 1024

/**
 * How much of an output is shown whole, in characters.
 *
 * @param tokens what the call asks for; undefined is the default
 */
export function shownOutput(tokens: number | undefined): number {
  return Math.min(eventOutputLimit, modelLimit(tokens))
}

function modelLimit(tokens: number | undefined): number {
  return (tokens ?? defaultOutputTokens) * bytesPerToken
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

/** What a call says about its answer. */
type Answering = {
  /** How much output comes back; undefined is the default. */
  readonly maxTokens: number | undefined
  /** Argument names that the call had and that mean nothing here; the answer names them. */
  readonly ignored: readonly string[]
}

/** The call's result as the model reads it: how it ended, how long it took, the output, and what was refused. */
export function answerCommand(
  { result, mode, output, file }: FinishedCommand,
  { maxTokens, ignored }: Answering,
  context: ToolContext,
): ToolResult {
  const lines = [describeEnd(result), `Wall time: ${(result.durationMs / 1000).toFixed(1)} seconds`]
  if (ignored.length > 0) lines.push(`Ignored, not known here: ${ignored.join(', ')}`)
  lines.push(
    'Output:',
    truncateMiddle(output, modelLimit(maxTokens), file === undefined ? undefined : readOnIn(file)).text.replace(
      /\n$/,
      '',
    ),
  )
  for (const denial of result.denials) {
    lines.push(`[sandbox: ${mode}] ${renderDenial(denial, remedyAsConfig)}`)
  }
  if (result.denials.length > 0 && mode !== context.sandbox.policy.mode) {
    lines.push('It was taken for a command that only reads, so it could write nothing.')
  }
  return {
    ok: result.status === 'exited' && result.code === 0,
    output: lines.join('\n'),
    // The output proper is cut above; what surrounds it is short and must not push it out.
    maxTokens: (maxTokens ?? defaultOutputTokens) + surroundingTokens,
    ...(file === undefined ? {} : { outputFile: file }),
  }
}

/** A command that goes on after its call was answered. */
type Running = {
  readonly id: number
  /** What it printed since it was last looked at. */
  readonly output: string
  readonly denials: readonly Denial[]
  readonly waitedMs: number
  readonly maxTokens: number | undefined
}

/** The same for a command that has not ended: how to go on with it, and what it printed. */
export function answerRunning({ id, output, denials, waitedMs, maxTokens }: Running, context: ToolContext): ToolResult {
  const isLong = output.length > modelLimit(maxTokens)
  const file = isLong ? context.state.kept.keep(Buffer.from(output)) : undefined
  const lines = [
    `Process running with session ID ${id}`,
    `Wall time: ${(waitedMs / 1000).toFixed(1)} seconds`,
    'Output:',
    truncateMiddle(output, modelLimit(maxTokens), file === undefined ? undefined : readOnIn(file)).text.replace(
      /\n$/,
      '',
    ),
    ...denials.map((denial) => renderDenial(denial, remedyAsConfig)),
  ]
  return { ok: true, output: lines.join('\n'), maxTokens: (maxTokens ?? defaultOutputTokens) + surroundingTokens }
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
