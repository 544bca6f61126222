import * as z from 'zod'
import { judgement } from '../../core/run-record.ts'
import { outcomes } from '../outcome.ts'

const tokens = z.object({ input: z.int(), cached: z.int(), output: z.int() })

/** The outcome of one attempt, as stored in `runs/TRIAL/ATTEMPT/result.json`. */
export const attemptRecord = z.object({
  version: z.literal(1),
  trial: z.string(),
  attempt: z.int(),
  outcome: z.enum(outcomes),
  /** The exit code of the run. Absent: no process was started, it was killed, or the code or the run's files were not received. */
  exit_code: z.int().optional(),
  /** Why there is no answer, or why the task failed. */
  error: z.string().optional(),
  /** The cost in US dollars; absent if it is unknown, for example because a model has no known price. */
  cost_usd: z.number().optional(),
  /** The maximum that the run may have cost, in US dollars, if its real cost is unknown. This amount then counts against `--max-cost`. */
  reserved_usd: z.number().optional(),
  /** For the outcome `quota`: the time at which, according to the provider, quota will be available again, in ISO 8601 format. */
  retry_at: z.string().optional(),
  tokens,
  turns: z.int(),
  /** How many paths the run changed. */
  files: z.int(),
  /** Whether all verification commands succeeded in the end. Absent: there were no such commands, or they never ran. */
  verified: z.boolean().optional(),
  /** The worst verdict of the comparison with the base's tests. Absent: nothing was compared. */
  verdict: judgement.shape.verdict.optional(),
  /** The commit that the run started from. */
  commit: z.string().optional(),
  /**
   * The path, relative to the batch's folder, of a patch that contains the run's changes (for `git apply --binary`). Absent: the run recorded no
   * changes, or its files were not received.
   */
  patch: z.string().optional(),
  /** The path of the run's session, relative to the batch's folder. Absent: the run had no session, or its files were not received. */
  session: z.string().optional(),
  /** When the attempt started, in ISO 8601 format. */
  started: z.string().optional(),
  ended: z.string(),
  duration_ms: z.number(),
})

export type AttemptRecord = z.infer<typeof attemptRecord>

/** The result of a trial, as stored in `runs/TRIAL/settled.json`. The file is never overwritten; if the trial is reopened, the file is renamed. */
export const settledRecord = attemptRecord.extend({
  task: z.string(),
  model: z.string().optional(),
  repeat: z.int(),
  /** The hash of the batch's manifest, as computed by `hashOf`. */
  manifest: z.string(),
  /** How many attempts the trial had. */
  attempts: z.int(),
  /** What all attempts of the trial cost together, in US dollars; absent if no cost is known. */
  total_cost_usd: z.number().optional(),
})

export type SettledRecord = z.infer<typeof settledRecord>

/** A line of `journal.jsonl`: an event and its time. The journal is only for observers; the state of the batch is in the files of the runs. */
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
