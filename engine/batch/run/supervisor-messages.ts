import * as z from 'zod'

const account = z.object({ provider: z.string(), key: z.string(), model: z.string() })
const requestEnd = z.discriminatedUnion('type', [
  z.object({ type: z.literal('answered'), tokens: z.number() }),
  z.object({
    type: z.literal('failed'),
    kind: z.enum(['limit', 'quota', 'other']),
    waitMs: z.number().optional(),
  }),
])

/** The messages that a supervised run sends to its supervisor, through the channel that the supervisor opened. */
export const runMessage = z.discriminatedUnion('type', [
  /** The run's session has begun. */
  z.object({ type: z.literal('began'), thread: z.string() }),
  /** What the run is doing. */
  z.object({ type: z.literal('step'), what: z.string() }),
  /** The run wants to send a request. */
  z.object({ type: z.literal('enter'), id: z.int(), account, tokens: z.number() }),
  /** A provider has begun to answer a request. */
  z.object({ type: z.literal('arrived'), id: z.int() }),
  /** The outcome of a request. */
  z.object({ type: z.literal('left'), id: z.int(), end: requestEnd }),
  /** The rate limits that a provider reported with its answer. */
  z.object({ type: z.literal('heard'), account, requests: z.number().optional(), tokens: z.number().optional() }),
  z.object({ type: z.literal('spent'), turns: z.int(), tokens: z.int(), cost_usd: z.number().optional() }),
])

export type RunMessage = z.infer<typeof runMessage>

/** The message that a supervisor sends to a run: the run may send the request with this number. */
export const supervisorMessage = z.object({ type: z.literal('entered'), id: z.int() })

export type SupervisorMessage = z.infer<typeof supervisorMessage>
