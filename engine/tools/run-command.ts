import { resolve } from 'node:path'
import { renderDenial, SandboxError, type Denial, type ExecResult } from '../../sandbox/index.ts'
import type { Action, Approved, SandboxMode } from '../../policies/index.ts'
import type { CommandItem } from '../events.ts'
import { remedyAsConfig } from '../remedies.ts'
import { cleanOutput } from '../text/clean.ts'
import { OutputBuffer } from '../text/output-buffer.ts'
import { shellJoin } from '../text/shell-join.ts'
import { truncateMiddle } from '../text/truncate.ts'
import { denied, eventVerdict } from './denied.ts'
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
}

const defaultTimeoutMs = 120_000
const defaultOutputTokens = 10_000
const bytesPerToken = 4
/** How the command ended, what the sandbox refused. */
const surroundingTokens = 4_000
/** Kept of one command's output; what a program prints beyond it is counted and dropped. */
const outputLimitBytes = 4 * 1024 * 1024
/** Of one command's output in one event: a line of the stream stays far below 64 KiB even when every byte is escaped. */
const eventOutputLimit = 8 * 1024

/**
 * Takes a command through the one path: the Guardian's review, the sandbox, and back as text for the model.
 *
 * @param ignored argument names that the call had and that mean nothing here; the answer names them
 */
export async function runCommand(
  request: CommandRequest,
  ignored: readonly string[],
  context: ToolContext,
): Promise<ToolResult> {
  const cwd = resolve(context.workspace, request.workdir ?? '.')
  const { mode } = context.sandbox.policy
  const item = context.startItem({
    type: 'command_execution',
    command: shellJoin(request.argv),
    aggregated_output: '',
    exit_code: null,
    status: 'in_progress',
    call_id: context.callId,
    cwd,
  })
  const readsOnly = isReadOnly(request, context)
  const escalation =
    request.sandbox_permissions === 'require_escalated'
      ? { escalation: { justification: request.justification ?? '' } }
      : {}
  const action = {
    type: 'exec' as const,
    argv: request.argv,
    cwd,
    // Confined to what it was proven to do, it may run beside others whatever the proof is worth.
    sandbox: readsOnly && mode === 'workspace-write' ? ('read-only' as const) : mode,
    ...escalation,
  }
  const { verdict, approved } = await context.guardian.review(action, {
    signal: context.signal,
    subject: context.callId,
  })
  if (approved === undefined) {
    item.complete({ status: 'declined', verdict: eventVerdict(verdict) })
    return denied(verdict)
  }
  try {
    const finished = await execute(approved, request, context)
    item.complete({ ...describe(finished, context), verdict: eventVerdict(verdict) })
    return answer(finished, request, ignored, context)
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    item.complete({ status: 'failed', aggregated_output: error.message, verdict: eventVerdict(verdict) })
    const broken = error.code === 'setup-failed'
    return { ok: false, output: `The command was not started: ${error.message}`, broken }
  }
}

/** Whether a command is proven to only read, and asks for no more than that. */
export function isReadOnly(request: CommandRequest, { workspace }: ToolPlace): boolean {
  if (request.sandbox_permissions === 'require_escalated') return false
  return onlyReads(request.argv, resolve(workspace, request.workdir ?? '.'))
}

type Finished = {
  readonly result: ExecResult
  /** What it was confined to: less than the run is where it was proven to only read. */
  readonly mode: SandboxMode
  /** Output made harmless, with at most `outputLimitBytes` of it. */
  readonly output: string
  /** Where the output lies when it is too long to be shown whole. */
  readonly file: string | undefined
}

/** Runs what was approved, and only that: the command's words come from the approved action. */
async function execute(
  approved: Approved<Extract<Action, { type: 'exec' }>>,
  request: CommandRequest,
  context: ToolContext,
): Promise<Finished> {
  const [program, ...words] = approved.argv
  if (program === undefined) throw new TypeError('an approved command has at least one word')
  const child = context.sandbox.spawn({
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
  const shown = Math.min(eventOutputLimit, modelLimit(request))
  return { result, mode: approved.sandbox, output, file: output.length > shown ? context.keepOutput(bytes) : undefined }
}

function modelLimit(request: CommandRequest): number {
  return (request.max_output_tokens ?? defaultOutputTokens) * bytesPerToken
}

/** The closing fields of the command's item. */
function describe({ result, output, file }: Finished, context: ToolContext): Partial<CommandItem> {
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

/** The call's result as the model reads it: how it ended, how long it took, the output, and what was refused. */
function answer(
  { result, mode, output, file }: Finished,
  request: CommandRequest,
  ignored: readonly string[],
  context: ToolContext,
): ToolResult {
  const lines = [ending(result), `Wall time: ${(result.durationMs / 1000).toFixed(1)} seconds`]
  if (ignored.length > 0) lines.push(`Ignored, not known here: ${ignored.join(', ')}`)
  lines.push('Output:', truncateMiddle(output, modelLimit(request), file).text.replace(/\n$/, ''))
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
    maxTokens: (request.max_output_tokens ?? defaultOutputTokens) + surroundingTokens,
    ...(file === undefined ? {} : { outputFile: file }),
  }
}

function ending(result: ExecResult): string {
  switch (result.status) {
    case 'exited':
      return `Process exited with code ${result.code}`
    case 'signaled':
      return `Process was killed by ${result.signal}`
    case 'timed-out':
      return `Process was killed with everything it started: it ran longer than ${result.afterMs} ms`
    case 'cancelled':
      return 'Process was killed: the run is being stopped'
    default:
      return result satisfies never
  }
}
