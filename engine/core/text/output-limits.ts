import type { OutputLimit } from './truncate.ts'

/** How much of one result is shown to a model. */
export type OutputLimits = {
  /** How many tokens are shown, unless a call asks for a different number. */
  readonly tokens: number
  /** The maximum number of tokens that a call may ask for. */
  readonly mostTokens: number
  readonly lines: number
}

/** The settings that limit how much of one result is shown to a model. */
type ConfiguredLimits = {
  readonly tool_output_token_limit?: number | undefined
  readonly tool_output_line_limit?: number | undefined
}

const usualTokens = 10_000
const usualLines = 4000

/** Returns the limits, with every default filled in. */
export function outputLimits({
  tool_output_token_limit: tokens,
  tool_output_line_limit: lines = usualLines,
}: ConfiguredLimits = {}): OutputLimits {
  return { tokens: tokens ?? usualTokens, mostTokens: tokens ?? Number.MAX_SAFE_INTEGER, lines }
}

/**
 * Returns the maximum length of one output.
 *
 * @param asked the number of tokens that the call asks for; undefined: the default number
 */
export function outputLimitFor(asked: number | undefined, { tokens, mostTokens, lines }: OutputLimits): OutputLimit {
  return { tokens: Math.min(asked ?? tokens, mostTokens), lines }
}

/** Returns the limit that the caller chose, lowered if it exceeds the maximum for any call plus the room for notes. */
export function withinLimit(limit: OutputLimit, { mostTokens }: OutputLimits): OutputLimit {
  return { ...limit, tokens: Math.min(limit.tokens, mostTokens + noteTokens) }
}

const noteTokens = 4000

/** Raises a limit, so that the notes around an output fit too: how the command ended and what the sandbox refused. These are short and must not be cut. */
export function withNotes({ tokens, lines }: OutputLimit): OutputLimit {
  return { tokens: tokens + noteTokens, lines: lines + 200 }
}
