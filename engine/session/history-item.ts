import * as z from 'zod'
import { webSearchAction } from '../core/events.ts'
import type { HistoryItem } from '../core/model.ts'

const images = z.custom<NonNullable<Extract<HistoryItem, { type: 'message' }>['images']>>(Array.isArray).optional()

/** The schema of an item in a conversation, as it is read from a rollout. */
export const historyItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    role: z.enum(['user', 'developer', 'assistant']),
    text: z.string(),
    images,
    phase: z.string().optional(),
    opaque: z.unknown().optional(),
  }),
  z.object({ type: z.literal('reasoning'), text: z.string(), opaque: z.unknown().optional() }),
  z.object({
    type: z.literal('web_search'),
    query: z.string(),
    action: webSearchAction,
    opaque: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('tool_call'),
    call: z.object({
      id: z.string(),
      name: z.string(),
      kind: z.enum(['function', 'freeform']),
      input: z.string(),
      cut: z.literal(true).optional(),
    }),
    opaque: z.unknown().optional(),
  }),
  z.object({ type: z.literal('tool_result'), callId: z.string(), output: z.string(), ok: z.boolean(), images }),
])
