import * as z from 'zod'
import type { Usage } from '../core/model.ts'
import { tokenCount } from './expect-shape.ts'

/** What a server counts for a completion, in one of its last chunks. Some count it in every chunk. */
export const chatUsage = z
  .object({
    prompt_tokens: tokenCount,
    completion_tokens: tokenCount,
    prompt_tokens_details: z.object({ cached_tokens: tokenCount }).nullish().catch(null),
    completion_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish().catch(null),
  })
  .nullish()
  .catch(null)

export function readChatUsage(usage: z.infer<typeof chatUsage>): Usage {
  return {
    inputTokens: usage?.prompt_tokens ?? 0,
    cachedInputTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteInputTokens: 0,
    outputTokens: usage?.completion_tokens ?? 0,
    reasoningOutputTokens: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}
