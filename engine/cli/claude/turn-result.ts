import { randomUUID } from 'node:crypto'
import type { RunSummary } from '../../core/events.ts'
import { noUsage } from '../../core/usage.ts'
import { UserError } from '../../core/user-error.ts'
import { eventUsage } from '../../run/summarize.ts'
import type { OutputSchema } from '../../run/output-contract.ts'
import type { ClaudeOptions } from './claude-options.ts'
import type { SessionState } from './session-state.ts'
import type { TurnMessages } from './turn-messages.ts'

/** How a turn ended, in Claude Code's words. */
type Outcome = {
  readonly subtype: string
  readonly is_error: boolean
  readonly terminal_reason: string
  readonly result?: string
  readonly errors?: readonly string[]
  readonly structured_output?: unknown
}

/** The message that ends a turn. */
export type TurnResult = Outcome & { readonly type: 'result' }

type Ended = Pick<RunSummary, 'usage' | 'costUsd' | 'durationMs'>

const nothing: Ended = { usage: eventUsage(noUsage), costUsd: 0, durationMs: 0 }

/** Says how a run ended in the message that ends a turn. A run that could not begin is described by its error. */
export function turnResult(
  ended: RunSummary | UserError,
  { denials, turns, model }: Pick<TurnMessages, 'denials' | 'turns' | 'model'>,
  state: SessionState,
  options: ClaudeOptions,
): TurnResult {
  const hasBegun = !(ended instanceof UserError)
  const { usage, costUsd: costUSD = 0, durationMs } = hasBegun ? ended : nothing
  const { cached_input_tokens: read, cache_write_input_tokens: written, output_tokens } = usage
  const fresh = usage.input_tokens - read - written
  const used = { inputTokens: fresh, outputTokens: output_tokens, cacheReadInputTokens: read }
  const limits = { contextWindow: state.opened?.contextWindow ?? 0, maxOutputTokens: state.opened?.longestOutput ?? 0 }
  const outcome = hasBegun
    ? outcomeOf(ended, turns, state.schema, options)
    : failure('error_during_execution', ended.message, 'error')
  const message = {
    type: 'result' as const,
    ...outcome,
    num_turns: turns,
    duration_ms: durationMs,
    duration_api_ms: durationMs,
    total_cost_usd: state.costUsd,
    stop_reason: outcome.is_error ? null : 'end_turn',
    usage: {
      input_tokens: fresh,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
      output_tokens,
    },
    modelUsage: { [model]: { ...used, cacheCreationInputTokens: written, webSearchRequests: 0, costUSD, ...limits } },
    permission_denials: denials,
    session_id: state.threadId ?? '',
    uuid: randomUUID(),
  }
  return message
}

function outcomeOf(
  { reason, error = '', finalMessage }: RunSummary,
  turns: number,
  schema: OutputSchema | undefined,
  { maxTurns }: ClaudeOptions,
): Outcome {
  switch (reason) {
    case 'done':
      return {
        subtype: 'success',
        is_error: false,
        result: finalMessage,
        terminal_reason: 'completed',
        ...(schema === undefined ? {} : { structured_output: JSON.parse(finalMessage) as unknown }),
      }
    case 'provider':
      return { subtype: 'success', is_error: true, result: `API Error: ${error}`, terminal_reason: 'api_error' }
    case 'budget':
      return maxTurns !== undefined && turns >= maxTurns
        ? failure('error_max_turns', error, 'max_turns')
        : failure('error_max_budget_usd', error, 'max_budget_usd')
    case 'failed':
      if (schema === undefined || fits(schema, finalMessage)) return failure('error_during_execution', error, 'error')
      return failure('error_max_structured_output_retries', error, 'structured_output')
    case 'interrupted':
    case 'terminated':
      return failure('error_during_execution', error, 'aborted')
    case 'stoppedByGuardian':
    case 'usage':
    case 'sandboxUnavailable':
      return failure('error_during_execution', error, 'error')
    default:
      return reason satisfies never
  }
}

function failure(subtype: string, error: string, terminal_reason: string): Outcome {
  return { subtype, is_error: true, errors: [error], terminal_reason }
}

function fits({ validate }: OutputSchema, message: string): boolean {
  try {
    return validate(JSON.parse(message)).length === 0
  } catch {
    return false
  }
}
