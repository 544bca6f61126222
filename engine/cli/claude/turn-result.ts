import { randomUUID } from 'node:crypto'
import type { RunSummary } from '../../core/events.ts'
import { noUsage } from '../../core/usage.ts'
import { UserError } from '../../core/user-error.ts'
import { eventUsage } from '../../run/summarize.ts'
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

const nothing = { usage: eventUsage(noUsage), costUsd: 0, durationMs: 0 }

/** Says how a run ended in the message that ends a turn. A run that could not begin is described by its error. */
export function turnResult(
  ended: RunSummary | UserError,
  { denials, turns, model }: Pick<TurnMessages, 'denials' | 'turns' | 'model'>,
  state: SessionState,
): TurnResult {
  const { opened, costUsd, threadId = '' } = state
  const { usage, costUsd: costUSD = 0, durationMs } = ended instanceof UserError ? nothing : ended
  const outcome =
    ended instanceof UserError ? failure('during_execution', ended.message, 'error') : outcomeOf(ended, turns, state)
  const { cached_input_tokens: read, cache_write_input_tokens: written, output_tokens: outputTokens } = usage
  const inputTokens = usage.input_tokens - read - written
  const cached = { cacheReadInputTokens: read, cacheCreationInputTokens: written }
  const limits = { contextWindow: opened?.contextWindow ?? 0, maxOutputTokens: opened?.longestOutput ?? 0 }
  const times = { duration_ms: durationMs, duration_api_ms: durationMs }
  const tokens = { input_tokens: inputTokens, output_tokens: outputTokens }
  return {
    type: 'result',
    ...outcome,
    ...{ num_turns: turns, ...times, total_cost_usd: costUsd, stop_reason: outcome.is_error ? null : 'end_turn' },
    usage: { ...tokens, cache_creation_input_tokens: written, cache_read_input_tokens: read },
    modelUsage: { [model]: { inputTokens, outputTokens, ...cached, webSearchRequests: 0, costUSD, ...limits } },
    ...{ permission_denials: denials, session_id: threadId, uuid: randomUUID() },
  } as TurnResult
}

function outcomeOf(
  { reason, error = '', finalMessage: result }: RunSummary,
  turns: number,
  state: SessionState,
): Outcome {
  const { schema, options } = state
  switch (reason) {
    case 'done': {
      const structured = schema === undefined ? {} : { structured_output: JSON.parse(result) as unknown }
      return { subtype: 'success', is_error: false, result, terminal_reason: 'completed', ...structured }
    }
    case 'provider':
      return { subtype: 'success', is_error: true, result: `API Error: ${error}`, terminal_reason: 'api_error' }
    case 'budget':
      return options.maxTurns !== undefined && turns >= options.maxTurns
        ? failure('max_turns', error, 'max_turns')
        : failure('max_budget_usd', error, 'max_budget_usd')
    case 'failed':
      return schema === undefined || fits(schema, result)
        ? failure('during_execution', error, 'error')
        : failure('max_structured_output_retries', error, 'structured_output')
    case 'interrupted':
    case 'terminated':
      return failure('during_execution', error, 'aborted')
    case 'stoppedByGuardian':
    case 'usage':
    case 'sandboxUnavailable':
      return failure('during_execution', error, 'error')
    default:
      return reason satisfies never
  }
}

function failure(kind: string, error: string, terminal_reason: string): Outcome {
  return { subtype: `error_${kind}`, is_error: true, errors: [error], terminal_reason }
}

function fits({ validate }: NonNullable<SessionState['schema']>, message: string): boolean {
  try {
    return validate(JSON.parse(message)).length === 0
  } catch {
    return false
  }
}
