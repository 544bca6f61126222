import * as z from 'zod'
import type { Contradiction, RunRecord, Verified } from './run-record.ts'
import type { ReviewReport } from './review-report-schema.ts'
import type { Changes } from './changes/change-watch.ts'
import type { FileChange } from './changes/compose.ts'
import type { EndReason } from './exit-codes.ts'
import type { SandboxStatus } from './sandbox-status.ts'
import type { Budget } from './budget-limits.ts'

/** Token counts as events report them. */
export const usage = z.object({
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_write_input_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_output_tokens: z.int(),
})

/** Not in Codex: how many environment variables were withheld from commands, and how many of these count as secrets. */
export const withheld = z.object({ variables: z.int(), secrets: z.int() })

/**
 * How a run ended, as one word that a script can test. `no-change` means that the run finished by itself, but changed neither a file nor the checked-out
 * commit. `weakened` and `revised` mean that `--verify` succeeded, but that the tests and the configuration of the base disagree. Each of the other
 * values corresponds to one or two exit codes.
 */
export const result = z.enum([
  'done',
  'no-change',
  'failed',
  'weakened',
  'revised',
  'denied',
  'budget',
  'no-sandbox',
  'provider',
  'interrupted',
])

export type Result = z.infer<typeof result>

/** What a run has used so far, and its limits. */
export type UsageSoFar = {
  /** Number of model responses. */
  readonly turns: number
  /** Number of input and output tokens. */
  readonly tokens: number
  /** The cost in US dollars; undefined if a price or a token count is unknown. */
  readonly costUsd: number | undefined
  readonly of: Pick<Budget, 'maxTurns' | 'maxTokens' | 'maxCost'>
}

/** Not in Codex: an effect of the run outside its transaction. It can't be undone. */
export const outsideEffect = z.object({
  kind: z.enum(['host', 'service', 'mcp-server', 'hook', 'cache', 'docker-socket', 'web-search', 'money']),
  what: z.string(),
})

export type OutsideEffect = z.infer<typeof outsideEffect>

/** The outcome of a run that is a transaction, as events report it. Lists of files, conflicts, repositories and notes have at most 200 entries. */
export const transactionReport = z.object({
  /** How the run's private view of the workspace was made. */
  strategy: z.string(),
  /**
   * `landed`: all changes are in the user's files. `nothing`: there were no changes, or the user's files already had them. `kept`: the changes were
   * stored but didn't land, because of `--land`, or because the run failed or was interrupted. `conflict`: no change landed, and `conflicts` says why.
   * `failed`: landing failed, and the error says why; usually the user's files are unchanged, but some of the changes may have been written.
   */
  outcome: z.enum(['landed', 'nothing', 'kept', 'conflict', 'failed']),
  /**
   * The state of the workspace if the landing failed and the workspace is not exactly as before. `left-over`: it contains temporary files that could not be
   * removed. `incomplete`: it could not be restored, and may contain some of the changes. Absent: it is as it should be.
   */
  tree: z.enum(['left-over', 'incomplete']).optional(),
  /** How many paths the run changed, not counting untracked paths that git ignores. */
  files: z.int(),
  /** Files that somebody else also changed, but on other lines, so that both changes were merged. */
  merged: z.array(z.string()),
  conflicts: z.array(z.object({ path: z.string(), why: z.string() })),
  /** The number of changed files that git ignores, their size in bytes, and whether they landed. */
  ignored: z.object({ files: z.int(), bytes: z.number(), landed: z.boolean() }),
  /** Files that never land: those that control other programs, and pipes, sockets and devices. */
  not_landed: z.array(z.string()),
  /** Entries that were left out because they can't be read, judged or stored, each with the reason. Absent: none. */
  left_out: z.array(z.object({ path: z.string(), why: z.string() })).optional(),
  /**
   * The commits that the run had checked out. `moved`: the checked-out branch moved to the commit or, with `from`, HEAD followed the run from the branch `from`
   * to the new branch. `stayed`: why the branch did not move; `ref`: the ref that keeps the commit then.
   */
  commits: z.array(
    z.object({
      path: z.string(),
      ref: z.string().optional(),
      commit: z.string(),
      moved: z
        .object({
          branch: z.string(),
          old: z.string().optional(),
          from: z.string().optional(),
          from_commit: z.string().optional(),
        })
        .optional(),
      stayed: z.string().optional(),
    }),
  ),
  /** The repositories that landed because the run made them, made anew: without their settings and hooks. Absent: none. */
  new_repositories: z.array(z.string()).optional(),
  /** How many paths that the run staged are staged in the user's repositories. Absent: none. */
  staged: z.int().optional(),
  /**
   * New branches, and refs below `refs/portcullis/` that keep what did not land under its own name: the full name, the value before (absent: it is new) and
   * the new value. Absent: none.
   */
  refs: z
    .array(z.object({ path: z.string(), ref: z.string(), old: z.string().optional(), now: z.string() }))
    .optional(),
  /**
   * Branches, tags, notes, stashes and `HEAD` that the run changed but that stay as they are in the user's repository, each with the reason and with the
   * command that a person can run to change it. Absent: none.
   */
  refs_not_landed: z
    .array(z.object({ path: z.string(), ref: z.string(), why: z.string(), command: z.string().optional() }))
    .optional(),
  /**
   * The repositories in which the run created commits or changed refs that were not imported into the user's repository. `git fetch` can get them from the
   * repository at `kept`.
   */
  repositories: z.array(
    z.object({
      path: z.string(),
      kept: z.string(),
      /** The run made the repository, and it didn't land. Absent: it was there before. */
      is_new: z.literal(true).optional(),
      /** The refs that the run changed, and `HEAD`. Absent: that isn't known. */
      refs: z.array(z.string()).optional(),
      /** Why the objects could not be imported, if an import was attempted. */
      why: z.string().optional(),
    }),
  ),
  /** What the run did outside the transaction. */
  outside: z.array(outsideEffect),
  can_undo: z.boolean(),
  /** What a user should know about the landing, such as hard links that it broke. Absent: nothing. */
  notes: z.array(z.string()).optional(),
  /** Identifies the transaction for `agent changes`, `apply`, `discard` and `undo`. */
  run: z.string(),
  /** The path of a file with the changes, in the format that `git apply --binary` accepts. */
  patch: z.string(),
})

/** The outcome of a transactional run, as the summary reports it. */
export type TransactionReport = z.infer<typeof transactionReport>

/** What a run did, for the closing lines on stderr and for the program's exit code. */
export type RunSummary = {
  readonly exitCode: number
  readonly reason: EndReason
  /** Why the run failed; undefined if it finished by itself. */
  readonly error: string | undefined
  readonly finalMessage: string
  readonly filesChanged: readonly FileChange[]
  /** The changed files in more detail than `filesChanged`, and the reason if changes by commands are not included; undefined if changes weren't tracked. */
  readonly changes?: Changes | undefined
  readonly commands: { readonly run: number; readonly failed: number }
  readonly denied: readonly { readonly what: string; readonly reason: string }[]
  /** What was repaired in patches, and what deserves attention in how they were applied. */
  readonly patchNotes?: readonly string[]
  readonly usage: z.infer<typeof usage>
  /** The cost in US dollars; undefined if a model's price or a token count is not known. */
  readonly costUsd: number | undefined
  readonly durationMs: number
  /** The head of the audit log, `RECORDS:HASH`; undefined if there was none. */
  readonly auditHead?: string | undefined
  /** Default limits that the sandbox could not enforce on this machine, as sentences. */
  readonly unenforced?: readonly string[] | undefined
  /** How many environment variables were withheld from commands, and how many of these count as secrets. */
  readonly withheld?: z.infer<typeof withheld> | undefined
  /** What happened to the run's changes; undefined if the run was not a transaction. */
  readonly transaction?: TransactionReport | undefined
  /** Set if the run worked in the workspace itself, so that no landing judged its changes. */
  readonly inPlace?: SandboxStatus['in_place']
  /** Access that commands were given although it lets them escape from any sandbox. */
  readonly dangers?: SandboxStatus['dangers']
  readonly result?: Result | undefined
  /** The results of the `--verify` commands that ran. Absent: there were none. */
  readonly verified?: readonly Verified[] | undefined
  /** What the run did, from its record. Absent: the run never began. */
  readonly record?: RunRecord | undefined
  /** The result of a review. */
  readonly review?: ReviewReport | undefined
  /** Facts that the model claimed at the end, but that the record contradicts. Absent: there were none. */
  readonly contradictions?: readonly Contradiction[] | undefined
}
