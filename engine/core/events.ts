import * as z from 'zod'
import { item } from './items.ts'
import { namedService } from './named-services.ts'
import { contradiction, runRecord, verified } from './run-record.ts'
import { reviewReport } from './review-report-schema.ts'
import {
  outsideEffect,
  result,
  transactionReport,
  usage,
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
export type { Result, RunSummary, UsageSoFar } from './run-summary.ts'
export type { Contradiction, RunRecord, Verified } from './run-record.ts'

/**
 * The event stream of a run: what `agent exec --json` prints, one object per line. Types and fields are those of `codex exec --json`, so
 * that its clients can read our events; everything we add is an extra field or an extra item type.
 */

/**
 * The version of the event schema. It is incremented when a field changes its meaning or is removed, but not for new fields.
 *
 * @example console.log(`these are events of schema ${schemaVersion}`)
 */
export const schemaVersion = 1

/** The fields of `SandboxStatus`, which every event can have. Codex's events don't have them. */
const sandboxStatus = {
  sandbox: z.literal('external').optional(),
  in_place: z.enum(['not judged', 'by rules']).optional(),
  dangers: z.array(z.literal('docker-socket')).optional(),
}

/** The fields that the two final events of a run, `turn.completed` and `turn.failed`, have in common. */
const terminal = {
  /** Not in Codex: how the run ended, in one word. */
  result,
  /** Not in Codex: what the run did, made from its record. Absent: the run never began. */
  record: runRecord.optional(),
  /** Not in Codex: what the model claimed for `--claims` and the record contradicts, at most 20. Absent: nothing, or no claims were asked for. */
  contradictions: z.array(contradiction).optional(),
  /** The tokens used in this run. `total_usage` counts all runs of the session. */
  usage,
  total_usage: usage,
  /** The cost of this run in US dollars; absent if a model's price or a token count is not known. */
  cost_usd: z.number().optional(),
  total_cost_usd: z.number().optional(),
  duration_ms: z.number(),
  denied: z.int(),
  /** The head of the audit log, `RECORDS:HASH`, for `agent audit verify --head`. */
  audit_head: z.string().optional(),
  /** Default limits that the sandbox could not enforce on this machine, as sentences; absent if there were none. */
  sandbox_unenforced: z.array(z.string()).optional(),
  environment_withheld: withheld.optional(),
  /**
   * Not in Codex: how many files in the workspace the run added, wrote or deleted, and how many of these were changed by commands, not by patches.
   * `not_counted` says why changes by commands are not included. Ignored files, `.git` and `node_modules` don't count. `runs_later` lists files that a program
   * runs or reads commands from when somebody works in the project: package scripts, makefiles, CI workflows.
   */
  changes: z
    .object({
      files: z.int(),
      by_commands: z.int(),
      runs_later: z.array(z.object({ path: z.string(), kind: z.string(), program: z.string() })).optional(),
      not_counted: z.string().optional(),
    })
    .optional(),
  /** Not in Codex: the notes of the run's patches (see `file_change`), at most 20. Absent: none. */
  patch_notes: z.array(z.string()).optional(),
  /** Not in Codex: the last result of each `--verify` command. Absent: none ran. */
  verified: z.array(verified).optional(),
  /** Not in Codex: the result of a review. Absent: the run wasn't a review, or ended before the model had reported a result. */
  review: reviewReport.optional(),
  /** Not in Codex: what happened to the changes of a run that is a transaction. Absent: the run was not a transaction. */
  transaction: transactionReport.optional(),
}

/**
 * Every event a run can emit, as a zod schema. The first is `thread.started`; the last is `turn.completed` or `turn.failed`. A run that
 * fails to start emits only `error` and `turn.failed`.
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
      /** The files that commands aren't shown because they hold secrets. Absent: none. */
      not_shown: z.array(z.string()).optional(),
      /** The directories of which the run has a private view, and how the view is made. Absent: the run works directly in the workspace. */
      transaction: z
        .object({
          strategy: z.string(),
          roots: z.array(z.string()),
          land: z.enum(['on-success', 'never', 'always', 'each']),
          /** What the run's configuration allows it to do outside the transaction. Absent: nothing, apart from spending money on the model. */
          outside: z.array(outsideEffect).optional(),
          /** True if the run continues in the view of an earlier run of its session; otherwise absent. */
          resumed: z.literal(true).optional(),
        })
        .optional(),
      /**
       * The commands that run when the model is done, and how many times failures are reported to the model (0: as many times as the budget allows). `red`:
       * those that must have failed before; absent: none.
       */
      verify: z
        .object({ commands: z.array(z.string()), attempts: z.int(), red: z.array(z.string()).optional() })
        .optional(),
      /** True if the run isn't stored, so that it can't be resumed; otherwise absent. */
      ephemeral: z.literal(true).optional(),
      /** The network access of commands: `off`, `allowlist` or `full`. */
      network: z.string().optional(),
      /** The services that commands can reach. Absent: none. */
      services: z.array(namedService).optional(),
      /** The credentials that commands can use, for which hosts and requests. Absent: none. */
      credentials: z
        .array(z.object({ name: z.string(), hosts: z.array(z.string()), allow: z.array(z.string()) }))
        .optional(),
      environment_withheld: withheld.optional(),
      reasoning_effort: z.string().optional(),
      /** Who requested plan mode, in which the run changes nothing. Absent: no plan mode. */
      plan_mode: z.enum(['user', 'model']).optional(),
      /** The budget's limits. An absent field means that there is no such limit. */
      budget: z
        .object({
          max_turns: z.int().optional(),
          max_tokens: z.int().optional(),
          max_cost_usd: z.number().optional(),
          timeout_ms: z.number().optional(),
        })
        .optional(),
      /** Configuration that was found but is ignored: the file, the ignored keys (empty if the whole file is ignored), and the reason. Absent: none. */
      ignored_config: z
        .array(z.object({ source: z.string(), keys: z.array(z.string()), reason: z.string() }))
        .optional(),
      /**
       * File denials (`Read(…)`, `Edit(…)`) that the sandbox can't enforce for commands, or can enforce only in part, each with the reason; at most 50. Absent:
       * the sandbox enforces all of them.
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

/** A tool call as the run understood it. */
export type StartedCall = {
  readonly id: string
  readonly tool: string
  /** The names of the tools in Claude Code that correspond to the called tool. */
  readonly claudeNames: readonly string[]
  /** The arguments: an object, or what the model wrote if that doesn't fit the tool. */
  readonly input: unknown
}

/** The result of a tool call as the model receives it. */
type CallOutcome = {
  readonly output: string
  readonly ok: boolean
  /** Whether the Guardian denied the call. */
  readonly refused: boolean
}

/** A listener for a run's events. A sink can't change what the run does. */
export type Sink = {
  event(event: RunEvent): void
  /** Receives each call of the run's own model when the model has written it, with all its arguments. */
  call?(call: StartedCall): void
  /** Receives the whole result of a call. A call that was given up, such as one of a response that is requested again, has none. */
  outcome?(id: string, outcome: CallOutcome): void
  /** Receives a piece of a message that the model is still writing, for display. Unless the request fails, the whole message follows as an item. */
  delta?(text: string): void
  /**
   * Called when the command of an item in progress has printed output. `read` returns the end of its output so far, sanitized and without secrets,
   * for display. `read` may be called until the item is complete.
   */
  tail?(id: string, read: () => string): void
  /** Receives what the run has used so far, for display. Called each time that changes. */
  spent?(spent: UsageSoFar): void
  /** Called once, after the last event, with the outcome of the run. */
  end?(summary: RunSummary): void
}
