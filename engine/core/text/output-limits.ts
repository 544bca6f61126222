import type { Room } from './truncate.ts'

/** How much of one result a model is shown. */
export type OutputLimits = {
  /** Unless a call asks for another number. */
  readonly tokens: number
  /** What no call gets more than. */
  readonly mostTokens: number
  readonly lines: number
}

/** What a configuration says of it. */
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

/** The room for one output. @param asked tokens that the call wants; undefined is the usual number */
export function roomFor(asked: number | undefined, { tokens, mostTokens, lines }: OutputLimits): Room {
  return { tokens: Math.min(asked ?? tokens, mostTokens), lines }
}

/** A room that somebody gave himself, within what no call gets more than. */
export function within(room: Room, { mostTokens }: OutputLimits): Room {
  return { ...room, tokens: Math.min(room.tokens, mostTokens + surroundingTokens) }
}

const surroundingTokens = 4000

/** Around an output, how a command ended and what the sandbox refused: short, and not to be cut with it. */
export function withSurroundings({ tokens, lines }: Room): Room {
  return { tokens: tokens + surroundingTokens, lines: lines + 200 }
}
