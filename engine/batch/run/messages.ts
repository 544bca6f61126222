import * as z from 'zod'

/** What a supervised run tells its supervisor, over the channel that the supervisor gave it. */
export const runMessage = z.discriminatedUnion('type', [
  /** Its session has begun. */
  z.object({ type: z.literal('began'), thread: z.string() }),
  /** What it is at. */
  z.object({ type: z.literal('step'), what: z.string() }),
  z.object({ type: z.literal('spent'), turns: z.int(), tokens: z.int(), cost_usd: z.number().optional() }),
])

export type RunMessage = z.infer<typeof runMessage>
