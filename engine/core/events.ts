import * as z from 'zod'
import { item } from './items.ts'
import { reviewReport } from './review-report-schema.ts'
import {
  outsideEffect,
  result,
  transactionReport,
  unsupportedClaim,
  usage,
  verified,
  withheld,
  type RunSummary,
  type UsageSoFar,
} from './run-summary.ts'

export { webSearchAction } from './items.ts'
export type {
  AssessmentItem,
  CommandItem,
  EventVerdict,
  Item,
  ItemDraft,
  ToolCallItem,
  VerificationItem,
} from './items.ts'
export type { Result, RunSummary, UsageSoFar, UnsupportedClaim, Verified } from './run-summary.ts'

/**
 * The event stream of a run: what `agent exec --json` prints, one object a line. Types and fields are those of
 * `codex exec --json`, so that its clients read ours; everything we add is an extra field or an extra item type.
 */

/**
 * Incremented when a field changes its meaning or is removed; new fields don't count.
 *
 * @example console.log(`these are events of schema ${schemaVersion}`)
 */
export const schemaVersion = 1

/** Ours, in every event: the fields of `SandboxStatus`. */
const sandboxStatus = {
  sandbox: z.literal('external').optional(),
  dangers: z.array(z.literal('docker-socket')).optional(),
}

/** The fields of both terminal events. */
const terminal = {
  /** Ours. */
  result,
  /** Ours: at most 20; absent where there are none. */
  unsupported_claims: z.array(unsupportedClaim).optional(),
  /** Of this run, and of all runs of the session together. */
  usage,
  total_usage: usage,
  /** US dollars; absent where a model's price is not known. */
  cost_usd: z.number().optional(),
  total_cost_usd: z.number().optional(),
  duration_ms: z.number(),
  denied: z.int(),
  /** How far the audit log has come, `RECORDS:HASH`, for `agent audit verify --head`. */
  audit_head: z.string().optional(),
  /** Default limits that the sandbox could not enforce here, as sentences; absent where there were none. */
  sandbox_unenforced: z.array(z.string()).optional(),
  environment_withheld: withheld.optional(),
  /**
   * Ours: how many files of the workspace differ from before the run, and how many of them no patch changed, so that commands did.
   * `not_counted` says why changes by commands are not included. Ignored files, `.git` and `node_modules` don't count. `runs_later` lists
   * files that a program runs or reads commands from when somebody works in the project: package scripts, makefiles, CI workflows.
   */
  changes: z
    .object({
      files: z.int(),
      by_commands: z.int(),
      runs_later: z.array(z.object({ path: z.string(), kind: z.string(), program: z.string() })).optional(),
      not_counted: z.string().optional(),
    })
    .optional(),
  /** Ours: the last result of each command of `--verify`. Absent: none ran. */
  verified: z.array(verified).optional(),
  /** Ours: what a review came to. Absent: the run is none, or ended before its findings were there. */
  review: reviewReport.optional(),
  /** Ours: what became of the changes of a run that is a transaction. Absent: it worked in the tree itself. */
  transaction: transactionReport.optional(),
}

/**
 * Every event a run can emit, as a zod schema. The first is `thread.started`, the last one of the two terminal `turn.` ones. A start
 * that fails, and so becomes no run, is `error` and `turn.failed` alone.
 *
 * @example
 * const line = '{"type":"error","message":"out of memory"}'
 * const event = RunEvent.parse(JSON.parse(line))
 */
export const RunEvent = z.discriminatedUnion('type', [
  z.object({
    ...sandboxStatus,
    type: z.literal('thread.started'),
    thread_id: z.string(),
    schema_version: z.literal(schemaVersion),
    config: z.object({
      model: z.string(),
      cwd: z.string(),
      sandbox_mode: z.string(),
      sandbox_backend: z.string(),
      approval_policy: z.string(),
      session_dir: z.string(),
      /** It works on a private view of these trees, made so. Absent: in the tree itself. */
      transaction: z
        .object({
          strategy: z.string(),
          roots: z.array(z.string()),
          land: z.enum(['on-success', 'never', 'always']),
          /** What it may do outside of the transaction, by how it is configured. Absent: nothing but the model's cost. */
          outside: z.array(outsideEffect).optional(),
          /** It continues in the view of an earlier run of its session. */
          resumed: z.literal(true).optional(),
        })
        .optional(),
      /** Commands that run when the model is done, and how often the model is told about failures; 0: as often as the budget allows. */
      verify: z.object({ commands: z.array(z.string()), attempts: z.int() }).optional(),
      /** The run isn't stored, so it can't be resumed. */
      ephemeral: z.literal(true).optional(),
      /** The network of commands: `off`, `allowlist` or `full`. */
      network: z.string().optional(),
      environment_withheld: withheld.optional(),
      reasoning_effort: z.string().optional(),
      /** Who requested plan mode, in which the run changes nothing. Absent: no plan mode. */
      plan_mode: z.enum(['user', 'model']).optional(),
      /** The limits of the budget. */
      budget: z
        .object({
          max_turns: z.int().optional(),
          max_tokens: z.int().optional(),
          max_cost_usd: z.number().optional(),
          timeout_ms: z.number().optional(),
        })
        .optional(),
      /** Configuration that was found but is ignored: the file, its keys (none: all of it), and why. Absent: none. */
      ignored_config: z
        .array(z.object({ source: z.string(), keys: z.array(z.string()), reason: z.string() }))
        .optional(),
      /**
       * Denies of files (`Read(…)`, `Edit(…)`) that no sandbox enforces for commands, or not all of them, and why; at most 50. Absent: the
       * sandbox enforces all there are.
       */
      denies_not_enforced: z.array(z.object({ deny: z.string(), why: z.string() })).optional(),
    }),
  }),
  z.object({ ...sandboxStatus, type: z.literal('turn.started') }),
  z.object({ ...sandboxStatus, type: z.literal('item.started'), item }),
  z.object({ ...sandboxStatus, type: z.literal('item.updated'), item }),
  z.object({ ...sandboxStatus, type: z.literal('item.completed'), item }),
  z.object({ ...sandboxStatus, type: z.literal('turn.completed'), ...terminal }),
  z.object({
    ...sandboxStatus,
    type: z.literal('turn.failed'),
    error: z.object({ message: z.string() }),
    reason: z.string(),
    exit_code: z.int(),
    ...terminal,
  }),
  z.object({ ...sandboxStatus, type: z.literal('error'), message: z.string() }),
])

export type RunEvent = z.infer<typeof RunEvent>

/** A listener to a run. A sink can't change what the run does. */
export type Sink = {
  event(event: RunEvent): void
  /** A piece of a message while the model still writes it. For display; the whole message follows as an item. */
  delta?(text: string): void
  /**
   * An open item prints output. The function returns the end of it so far, sanitized and without secrets, for displays; it may be called
   * until the item is complete.
   */
  tail?(id: string, read: () => string): void
  /** What the run has used so far; told after each response of the model. For display. */
  spent?(spent: UsageSoFar): void
  /** Called once, after the last event, with how the run ended. */
  end?(summary: RunSummary): void
}
