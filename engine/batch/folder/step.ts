import * as z from 'zod'
import type { AttemptRecord } from './records.ts'

/** A run's current step and its usage so far, as its worker last reported them. They are stored in `runs/TRIAL/ATTEMPT/step.json`. */
const step = z.object({
  what: z.string(),
  turns: z.int(),
  tokens: z.int(),
  /** The cost in US dollars; absent if nothing was spent yet, or if a model's price is unknown. */
  cost_usd: z.number().optional(),
})

export type Step = z.infer<typeof step>

/** Reads a reported step. @returns undefined if the text is not a valid step */
export function parseStep(text: string): Step | undefined {
  try {
    return step.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/**
 * Completes an attempt's record with the last report of its run. If the worker was killed, that report is all that is known about the run's usage.
 * The record and the report are about the same run, so of two different costs or numbers of turns, the larger one includes the smaller one. The
 * reported tokens count as input tokens, and only if the record contains none.
 */
export function withReported(record: AttemptRecord, reported: Step | undefined): AttemptRecord {
  if (reported === undefined) return record
  const known = [record.cost_usd, reported.cost_usd].flatMap((cost) => cost ?? [])
  const { input, cached, output } = record.tokens
  return {
    ...record,
    ...(known.length === 0 ? {} : { cost_usd: Math.max(...known) }),
    tokens: { input: input + output === 0 ? reported.tokens : input, cached, output },
    turns: Math.max(record.turns, reported.turns),
  }
}
