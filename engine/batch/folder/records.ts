import * as z from 'zod'
import { outcomes } from '../outcome.ts'

const tokens = z.object({ input: z.int(), cached: z.int(), output: z.int() })

/** How one attempt ended: `runs/TRIAL/ATTEMPT/result.json`. */
export const attemptRecord = z.object({
  version: z.literal(1),
  trial: z.string(),
  attempt: z.int(),
  outcome: z.enum(outcomes),
  /** Undefined: the process was killed, or nobody saw its end. */
  exit_code: z.int().optional(),
  /** Why there is no answer, or why the task failed. */
  error: z.string().optional(),
  /** US dollars; absent where a model's price is not known. */
  cost_usd: z.number().optional(),
  /** US dollars that it may have cost at most, where it was lost and so nobody knows: counted against `--max-cost`. */
  reserved_usd: z.number().optional(),
  /** With the outcome `quota`: when the provider says that there will be something to use again. ISO 8601. */
  retry_at: z.string().optional(),
  tokens,
  turns: z.int(),
  /** How many paths the run changed. */
  files: z.int(),
  /** Whether all commands of `--verify` succeeded in the end. Absent: there were none, or they never ran. */
  verified: z.boolean().optional(),
  /** The commit that it began with. */
  commit: z.string().optional(),
  /** Its changes, as `git apply --binary` takes them, from the batch's folder. Absent: it changed nothing. */
  patch: z.string().optional(),
  /** Its session, from the batch's folder. Absent: it had none. */
  session: z.string().optional(),
  /** ISO 8601. */
  started: z.string().optional(),
  ended: z.string(),
  duration_ms: z.number(),
})

export type AttemptRecord = z.infer<typeof attemptRecord>

/** What a trial came to: `runs/TRIAL/settled.json`, made once. */
export const settledRecord = attemptRecord.extend({
  task: z.string(),
  model: z.string().optional(),
  repeat: z.int(),
  /** Of the batch: `hashOf` its manifest. */
  manifest: z.string(),
  /** How many attempts there were, and what all of them cost together. */
  attempts: z.int(),
  total_cost_usd: z.number().optional(),
})

export type SettledRecord = z.infer<typeof settledRecord>

/** A line of `journal.jsonl`: what happened when. The files of the runs are the truth; this is for those who look. */
export type JournalEntry =
  | { readonly type: 'batch-started'; readonly pid: number; readonly workers: number; readonly missing: number }
  | { readonly type: 'attempt-started'; readonly trial: string; readonly attempt: number; readonly pid?: number }
  | {
      readonly type: 'attempt-ended'
      readonly trial: string
      readonly attempt: number
      readonly outcome: string
      readonly cost_usd?: number
      readonly error?: string
    }
  | { readonly type: 'settled'; readonly trial: string; readonly outcome: string }
  | { readonly type: 'superseded'; readonly trial: string; readonly attempt: number }
  | { readonly type: 'retried'; readonly trial: string }
  | { readonly type: 'paused'; readonly why: string; readonly until?: string }
  | { readonly type: 'resumed' }
  | { readonly type: 'batch-ended'; readonly why: string }
