import * as z from 'zod'
import type { Changes } from './changes/change-watch.ts'
import type { FileChange } from './changes/compose.ts'
import type { EndReason } from './exit-codes.ts'
import type { SandboxStatus } from './sandbox-status.ts'
import type { Budget } from './budget.ts'

/** Tokens, as events count them. */
export const usage = z.object({
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_write_input_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_output_tokens: z.int(),
})

/** Ours: how many variables of the environment commands did not get, and how many of these are taken for secrets. */
export const withheld = z.object({ variables: z.int(), secrets: z.int() })

/**
 * How a run ended, for whoever branches on it: `no-change` is a run that came to its own end and left every file and the checked-out commit as they
 * were. Otherwise what the exit code says.
 */
export const result = z.enum([
  'done',
  'no-change',
  'failed',
  'denied',
  'budget',
  'no-sandbox',
  'provider',
  'interrupted',
])

/** Ours: something that the final message claims and the record of the run contradicts, found by rules. */
export const unsupportedClaim = z.object({
  claim: z.enum(['tests', 'push', 'file']),
  /** The sentence, as the message has it; cut where it is long. */
  text: z.string(),
  /** What the record says instead. */
  why: z.string(),
})

export type Result = z.infer<typeof result>
export type UnsupportedClaim = z.infer<typeof unsupportedClaim>

/** What a run has used so far, and of how much. */
export type Spent = {
  /** Responses of the model. */
  readonly turns: number
  /** In and out. */
  readonly tokens: number
  /** In US dollars; undefined where a model's price is not known. */
  readonly costUsd: number | undefined
  readonly of: Pick<Budget, 'maxTurns' | 'maxTokens' | 'maxCost'>
}

/** What a run did, for the closing lines on stderr and for the program's exit code. */
export type RunSummary = {
  readonly exitCode: number
  readonly reason: EndReason
  /** Why the run failed; undefined when it came to its own end. */
  readonly error: string | undefined
  readonly finalMessage: string
  readonly filesChanged: readonly FileChange[]
  /** The same, and why what commands wrote is not in it; undefined where nobody looked. */
  readonly changes?: Changes | undefined
  readonly commands: { readonly run: number; readonly failed: number }
  readonly denied: readonly { readonly what: string; readonly reason: string }[]
  readonly usage: z.infer<typeof usage>
  /** In US dollars; undefined where a model's price is not known. */
  readonly costUsd: number | undefined
  readonly durationMs: number
  /** How far the audit log has come, `RECORDS:HASH`; undefined where none was kept. */
  readonly auditHead?: string | undefined
  /** Default limits that the sandbox could not enforce here, as sentences. */
  readonly unenforced?: readonly string[] | undefined
  /** How many variables of the environment commands did not get. */
  readonly withheld?: z.infer<typeof withheld> | undefined
  /** What was given to commands that is a way out of any sandbox. */
  readonly dangers?: SandboxStatus['dangers']
  readonly result?: Result | undefined
  /** What the final message claims and the record contradicts. Absent: nothing. */
  readonly unsupported?: readonly UnsupportedClaim[] | undefined
}
