import * as z from 'zod'
import type { ReviewReport } from './review-report-schema.ts'
import type { Changes } from './changes/change-watch.ts'
import type { FileChange } from './changes/compose.ts'
import type { EndReason } from './exit-codes.ts'
import type { SandboxStatus } from './sandbox-status.ts'
import type { Budget } from './budget-limits.ts'

/** Tokens, as events count them. */
export const usage = z.object({
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_write_input_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_output_tokens: z.int(),
})

/** Ours: how many variables of the environment were withheld from commands, and how many of these count as secrets. */
export const withheld = z.object({ variables: z.int(), secrets: z.int() })

/**
 * How a run ended, as one word to branch on: `no-change` is a run that came to its own end and left every file and the checked-out commit
 * unchanged. Otherwise it follows the exit code.
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
  /** The contradiction in the record. */
  why: z.string(),
})

export type Result = z.infer<typeof result>
export type UnsupportedClaim = z.infer<typeof unsupportedClaim>

/** What a run has used so far, and of how much. */
export type UsageSoFar = {
  /** Responses of the model. */
  readonly turns: number
  /** In and out. */
  readonly tokens: number
  /** In US dollars; undefined where a model's price is not known. */
  readonly costUsd: number | undefined
  readonly of: Pick<Budget, 'maxTurns' | 'maxTokens' | 'maxCost'>
}

/** Ours: how a command of `--verify` went when it ran last. */
export const verified = z.object({
  command: z.string(),
  passed: z.boolean(),
  /** Null where it was killed or did not start. */
  exit_code: z.int().nullable(),
  duration_ms: z.number(),
  /** How often it ran. */
  attempts: z.int(),
})

export type Verified = z.infer<typeof verified>

/** Ours: something that is not part of a transaction, so that nothing takes it back. */
export const outsideEffect = z.object({
  kind: z.enum(['host', 'mcp-server', 'hook', 'cache', 'docker-socket', 'web-search', 'money']),
  what: z.string(),
})

export type OutsideEffect = z.infer<typeof outsideEffect>

/** How a run ended that is a transaction, as events say it. */
export const transactionReport = z.object({
  /** How the view was made. */
  strategy: z.string(),
  /**
   * `landed`: all its changes are in the tree. `nothing`: there was nothing to land. `kept`: nothing was supposed to land. `conflict`,
   * `failed`: nothing landed, and `conflicts` or the error say why. Where nothing landed, the tree is unchanged.
   */
  outcome: z.enum(['landed', 'nothing', 'kept', 'conflict', 'failed']),
  /** How many paths the run changed, of those that count: tracked, or not ignored by git. */
  files: z.int(),
  /** Files that somebody else changed too, in other places. */
  merged: z.array(z.string()),
  conflicts: z.array(z.object({ path: z.string(), why: z.string() })),
  /** Changed files that git ignores. */
  ignored: z.object({ files: z.int(), bytes: z.number(), landed: z.boolean() }),
  /** Files that never land: those that other programs obey, pipes, sockets and devices. */
  not_landed: z.array(z.string()),
  /**
   * Commits of the run that are in the repository now, under `ref`. `moved`: the branch that was checked out stands there too. `stayed`: why it doesn't,
   * where it was to.
   */
  commits: z.array(
    z.object({
      path: z.string(),
      ref: z.string(),
      commit: z.string(),
      moved: z.object({ branch: z.string(), old: z.string().optional() }).optional(),
      stayed: z.string().optional(),
    }),
  ),
  /** Repositories in which the run made objects that did not land, such as commits of a run that did not: `git fetch` takes them from `kept`. */
  repositories: z.array(
    z.object({
      path: z.string(),
      kept: z.string(),
      /** Why they could not be taken over, where that was tried. */
      why: z.string().optional(),
    }),
  ),
  /** What it did outside of the transaction. */
  outside: z.array(outsideEffect),
  can_undo: z.boolean(),
  /** What a user should know of the landing, such as hard links that it broke. Absent: nothing. */
  notes: z.array(z.string()).optional(),
  /** The session, as `agent changes`, `apply`, `discard` and `undo` take it. */
  run: z.string(),
  /** The changes, as `git apply --binary` takes them. */
  patch: z.string(),
})

/** How a run ended that is a transaction. */
export type TransactionReport = z.infer<typeof transactionReport>

/** What a run did, for the closing lines on stderr and for the program's exit code. */
export type RunSummary = {
  readonly exitCode: number
  readonly reason: EndReason
  /** Why the run failed; undefined when it came to its own end. */
  readonly error: string | undefined
  readonly finalMessage: string
  readonly filesChanged: readonly FileChange[]
  /** The same, and why changes by commands are not included; undefined where they weren't tracked. */
  readonly changes?: Changes | undefined
  readonly commands: { readonly run: number; readonly failed: number }
  readonly denied: readonly { readonly what: string; readonly reason: string }[]
  readonly usage: z.infer<typeof usage>
  /** In US dollars; undefined where a model's price is not known. */
  readonly costUsd: number | undefined
  readonly durationMs: number
  /** The end of the audit log, `RECORDS:HASH`; undefined where there was none. */
  readonly auditHead?: string | undefined
  /** Default limits that the sandbox could not enforce here, as sentences. */
  readonly unenforced?: readonly string[] | undefined
  /** How many variables of the environment commands did not get. */
  readonly withheld?: z.infer<typeof withheld> | undefined
  /** What happened to its changes; undefined where it worked in the tree itself. */
  readonly transaction?: TransactionReport | undefined
  /** Access that commands were given and that is a way out of any sandbox. */
  readonly dangers?: SandboxStatus['dangers']
  readonly result?: Result | undefined
  /** The results of the commands of `--verify` that ran. Absent: there were none. */
  readonly verified?: readonly Verified[] | undefined
  /** What a review came to. */
  readonly review?: ReviewReport | undefined
  /** Claims of the final message that the record contradicts. Absent: none. */
  readonly unsupported?: readonly UnsupportedClaim[] | undefined
}
