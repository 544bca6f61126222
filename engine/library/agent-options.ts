import type * as z from 'zod'
import type { ReviewFunction } from '../approvals/function-reviewer.ts'
import type { ConfigFile } from '../config/settings-schema.ts'
import type { Budget } from '../core/budget.ts'
import type { RunEvent, RunSummary, Sink } from '../core/events.ts'
import type { Image, Model } from '../core/model.ts'
import type { Tool } from '../tools/tool.ts'

/** A JSON Schema (draft 6, 7, 2019-09 or 2020-12) as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** How an agent works. What is left out is as the user's configuration says, or as `agent exec` without options has it. */
export type AgentOptions<Output = unknown> = {
  /** The directory to work in; a relative path is taken from the current directory. */
  readonly workspace: string
  /** A model's name, as for `agent exec --model`, or a model of your own. Default: the configured one. */
  readonly model?: string | Model
  /** What commands and patches may touch. Default: `workspace-write`, unless configured otherwise. */
  readonly sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access'
  /** Any key of the configuration file. These win over all files, within what the machine's owner fixed. Default: none. */
  readonly settings?: ConfigFile
  /** A profile of the user's file, as for `agent exec --profile`. Default: the one that the file names, if it does. */
  readonly profile?: string
  /** True: the repository's own configuration, rules and hooks count. Default: as the user's file says of this repository. */
  readonly trust?: boolean
  /** Offered to the model besides the built-in tools. Make one with `defineTool`. Default: none. */
  readonly tools?: readonly Tool[]
  /**
   * Asked where rules and approval policy leave an action open, one question at a time. With a reviewer the approval policy is
   * `on-request`, unless `settings.approval_policy` says otherwise. Default: whom the configuration names, else nobody: such an action is denied.
   */
  readonly reviewer?: ReviewFunction
  /** Works outside a git repository too, where changes can't be taken back. Default: false. */
  readonly skipGitRepoCheck?: boolean
  /** The session to go on with: its id, or `last` for the newest one of this workspace. Default: a new session. */
  readonly resume?: string
  /** Keeps no session and no audit log; the agent then runs one task only. Default: false. */
  readonly ephemeral?: boolean
  /** What the final message of every run must meet: a zod schema without asynchronous checks, or a JSON Schema. Default: anything goes. */
  readonly outputSchema?: z.ZodType<Output> | JsonSchema
  /** Limits of each run. Default: none. */
  readonly budget?: Budget
  /**
   * Commands that run in the sandbox when the model is done; one that fails is told to the model, which works on, and in the end the run has failed.
   * They are your words: nobody is asked about them, and rules that forbid hold. Default: as configured.
   */
  readonly verify?: readonly string[]
  /** How often the model is told of those that fail; 0: as often as the budget allows. Default: 2. */
  readonly verifyAttempts?: number
  /** Ends a run at the first call that is refused. Default: false. */
  readonly failOnDenied?: boolean
  /** States that something around this process is the sandbox, so that none is opened. Default: false. */
  readonly externallySandboxed?: boolean
  /** Interrupts the run in progress, and every later one, when it is aborted. */
  readonly signal?: AbortSignal
  /** Told what happens as it happens, pieces of messages included. Default: the iteration of a run is all there is. */
  readonly sinks?: readonly Sink[]
  /** Variables that hold the keys of model providers and say where configuration lies. Default: those of this process. */
  readonly environment?: Readonly<NodeJS.ProcessEnv>
}

/** What goes with one task. */
export type RunOptions = {
  /** Shown to the model with the task. Default: none. */
  readonly images?: readonly Image[]
  /** Interrupts this run alone when it is aborted. */
  readonly signal?: AbortSignal
}

/** How a run ended. */
export type AgentResult<Output = unknown> = RunSummary & {
  /** The session, for `resume`. Undefined where the run ended before it had one. */
  readonly threadId: string | undefined
  /** The final message as the schema gives it. Undefined without `outputSchema`, and where `exitCode` isn't 0. */
  readonly output: Output | undefined
}

/**
 * A run in progress. It goes on whether or not anybody iterates; leaving the loop doesn't end it. Each iteration gives every event, from the first
 * on, and throws what `result` rejects with.
 */
export type AgentRun<Output = unknown> = AsyncIterable<RunEvent> & {
  /**
   * How the run ended, once all that was opened for it is closed. A run that fails, is stopped or is interrupted ends with its `exitCode` and `error`.
   *
   * Rejects with a `UserError` for what the caller has to mend; nothing was run then.
   */
  readonly result: Promise<AgentResult<Output>>
  /** Ends the run in good order: its last event comes, and `result` with the exit code 130. */
  interrupt(): void
}

/** An agent at work in one workspace. */
export type Agent<Output = unknown> = AsyncDisposable & {
  /** The session of this agent's runs. Undefined before the first one has begun. */
  readonly threadId: string | undefined
  /** Has the model work on a task. A second call goes on with the session; it begins when the run before it has ended. */
  run(task: string, options?: RunOptions): AgentRun<Output>
  /** Interrupts what runs, and resolves when it has ended. Later runs are rejected. Calling it again does no harm. */
  close(): Promise<void>
}
