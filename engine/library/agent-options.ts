import type * as z from 'zod'
import type { ReviewFunction } from '../approvals/function-reviewer.ts'
import type { ConfigFile } from '../config/settings-schema.ts'
import type { Budget } from '../core/budget-limits.ts'
import type { RunEvent, RunSummary, Sink } from '../core/events.ts'
import type { Image, Model } from '../core/model.ts'
import type { Tool } from '../tools/tool.ts'

/** A JSON Schema (draft 6, 7, 2019-09 or 2020-12) as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The options of an agent. If an option is absent, the user's configuration applies, or else the default of `agent exec`. */
export type AgentOptions<Output = unknown> = {
  /** The directory to work in. A relative path is resolved from the current directory. */
  readonly workspace: string
  /** A model's name, as for `agent exec --model`, or a model of your own. Default: the configured model. */
  readonly model?: string | Model
  /** What commands and patches may access. Default: `workspace-write`, unless configured otherwise. */
  readonly sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access'
  /**
   * Values for any keys of the configuration file. They override all configuration files, within the limits set by the machine's owner. Default:
   * none.
   */
  readonly settings?: ConfigFile
  /** The name of a profile in the user's configuration file, as for `agent exec --profile`. Default: the profile that the file selects, if any. */
  readonly profile?: string
  /**
   * Trusts the repository: its own configuration, rules and hooks are used, unless the machine's owner decided otherwise. Default, and `false`: as
   * configured.
   */
  readonly trust?: boolean
  /** Additional tools for the model. Make one with `defineTool`. Default: none. */
  readonly tools?: readonly Tool[]
  /**
   * Decides about actions that rules and the approval policy leave undecided. It is asked one question at a time. With a reviewer, the approval
   * policy is `on-request`, unless `settings.approval_policy` says otherwise. Default: the configured reviewer; if there is none, such an action is
   * denied.
   */
  readonly reviewer?: ReviewFunction
  /** Allows work outside a git repository, where changes can't be undone. Default: false. */
  readonly skipGitRepoCheck?: boolean
  /** The session to resume: its id, or `last` for the newest session of this workspace. Default: a new session. */
  readonly resume?: string
  /** Stores no session and no audit log. The agent can then run only one task. Default: false. */
  readonly ephemeral?: boolean
  /** The schema of every run's final message: a zod schema without asynchronous checks, or a JSON Schema. Default: none. */
  readonly outputSchema?: z.ZodType<Output> | JsonSchema
  /** The limits of each run. Default: none. */
  readonly budget?: Budget
  /**
   * Commands that run in the sandbox when the model is done. If one fails, the failure is reported to the model, which continues; if commands still
   * fail in the end, the run fails. The commands are your own, so they need no approval, but rules that forbid them apply. Default: as configured.
   */
  readonly verify?: readonly string[]
  /** How many times failures of the `verify` commands are reported to the model; 0: as many times as the budget allows. Default: 2. */
  readonly verifyAttempts?: number
  /** Ends a run when a call is denied for the first time. Default: false. */
  readonly failOnDenied?: boolean
  /** States that this process already runs in an external sandbox. No sandbox is then set up for commands. Default: false. */
  readonly externallySandboxed?: boolean
  /** A signal that, when it is aborted, interrupts the run in progress and every later run. Default: none. */
  readonly signal?: AbortSignal
  /** Sinks that receive events as they happen, including pieces of messages. Default: none; to read a run's events, iterate over the run. */
  readonly sinks?: readonly Sink[]
  /**
   * Environment variables, among them those that contain the keys of model providers or say where the configuration is. Default: those of this
   * process.
   */
  readonly environment?: Readonly<NodeJS.ProcessEnv>
}

/** Options for one run. */
export type RunOptions = {
  /** Images that are shown to the model with the task. Default: none. */
  readonly images?: readonly Image[]
  /** A signal that, when it is aborted, interrupts only this run. Default: none. */
  readonly signal?: AbortSignal
}

/** The result of a run. */
export type AgentResult<Output = unknown> = RunSummary & {
  /** The id of the session, for the option `resume`. Undefined if the run ended before it had a session. */
  readonly threadId: string | undefined
  /** The final message as parsed by the schema. Undefined if there is no `outputSchema`, or if `exitCode` isn't 0. */
  readonly output: Output | undefined
}

/**
 * A run in progress. Iterating over it yields all its events, from the first one on, and throws the error that `result` rejects with. The run
 * continues even if nobody iterates over it or if an iteration is left early.
 */
export type AgentRun<Output = unknown> = AsyncIterable<RunEvent> & {
  /**
   * How the run ended. Resolves when everything that the run opened is closed. If the run fails, is stopped or is interrupted, the result has an
   * `exitCode` and an `error`. Rejects with a `UserError` for a mistake that the caller has to fix; in that case, nothing was run.
   */
  readonly result: Promise<AgentResult<Output>>
  /** Ends the run in an orderly way: its last event is still delivered, and `result` resolves with exit code 130. */
  interrupt(): void
}

/** An agent in one workspace. */
export type Agent<Output = unknown> = AsyncDisposable & {
  /** The id of the session that this agent's runs share. Undefined before the first run has begun. */
  readonly threadId: string | undefined
  /** Lets the model work on a task. A second call continues the session; its run starts when the previous run has ended. */
  run(task: string, options?: RunOptions): AgentRun<Output>
  /** Interrupts the current run and resolves when it has ended. Later runs are rejected. Closing the agent again has no effect. */
  close(): Promise<void>
}
