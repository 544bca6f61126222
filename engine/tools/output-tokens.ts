import * as z from 'zod'

/** The schema of `max_output_tokens`, with which a model limits the output that a call returns. */
export const outputTokens = z.int().min(1).max(100_000).optional()
