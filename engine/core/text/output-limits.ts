import type { OutputLimit } from './truncate.ts'

/** How much of one result a model is shown. */
export type OutputLimits = {
  /** Unless a call asks for another number. */
  readonly tokens: number
  /** The maximum for any call. */
  readonly mostTokens: number
  readonly lines: number
}

/** The configured limits. */
type ConfiguredLimits = {
  readonly tool_output_token_limit?: number | undefined
  readonly tool_output_line_limit?: number | undefined
}

const usualTokens = 10_000
const usualLines = 4000

/** The limits with every default filled in. */
export function outputLimits({
  tool_output_token_limit: tokens,
  tool_output_line_limit: lines = usualLines,
}: ConfiguredLimits = {}): OutputLimits {
  return { tokens: tokens ?? usualTokens, mostTokens: tokens ?? Number.MAX_SAFE_INTEGER, lines }
}

/** How long one output may be. @param asked tokens that the call wants; undefined is the usual number */
export function outputLimitFor(asked: number | undefined, { tokens, mostTokens, lines }: OutputLimits): OutputLimit {
  return { tokens: Math.min(asked ?? tokens, mostTokens), lines }
}

/** A limit that the caller chose, within the most that any call gets. */
export function withinLimit(limit: OutputLimit, { mostTokens }: OutputLimits): OutputLimit {
  return { ...limit, tokens: Math.min(limit.tokens, mostTokens + noteTokens) }
}

const noteTokens = 4000

/** Around an output, how a command ended and what the sandbox refused: short, and not to be cut with it. */
export function withNotes({ tokens, lines }: OutputLimit): OutputLimit {
  return { tokens: tokens + noteTokens, lines: lines + 200 }
}
