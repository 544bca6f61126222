import type { ChangeSource } from '../core/changes/change-watch.ts'
import type { LooseDeny } from '../config/denied-files.ts'
import type { Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Ignored } from '../config/ignored.ts'
import type { RunEvent, Sink } from '../core/events.ts'
import type { ReviewReport } from '../core/review-report-schema.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import type { Image, Model } from '../core/model.ts'
import type { Verification } from '../core/verification-settings.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { Escalation } from '../escalation/escalation.ts'
import type { RunContext } from '../tools/run-context.ts'
import type { OutputLimits } from '../core/text/output-limits.ts'
import type { Session } from '../session/session.ts'
import type { BudgetFacts } from './budget-watch.ts'
import type { Budget } from '../core/budget-limits.ts'
import type { ResumedSession } from './resumed-session.ts'
import type { FirstCall } from './first-calls.ts'
import type { RunHooks } from '../tools/hook-interface.ts'
import type { Stop } from './stop.ts'
import type { TakeCall } from './serve-calls.ts'
import type { OutputContract } from './output-contract.ts'
import type { WebSearchRequestOptions } from './approve-web-search.ts'
import type { ExecutionContext } from './execution-context.ts'

/** The parts of a run that reviews a change, whose result is its findings. */
export type RunReview = {
  /** The review's result; undefined if the model never delivered its findings. */
  readonly report: () => ReviewReport | undefined
  /** The reason why a completed run fails because of its findings. Undefined: it doesn't fail. */
  readonly failure: () => string | undefined
}

/** The transaction of a run that works on a private view. Its changes land at the end or not at all. */
export type Transaction = {
  /** Its description in the first event. */
  readonly facts: NonNullable<Extract<RunEvent, { type: 'thread.started' }>['config']['transaction']>
  /** Finds the changes in the view. */
  readonly changes: ChangeSource
  /**
   * Lands the changes, if the user wants that after such an end. To be called when no command runs any more.
   *
   * @param stop how the run ended; undefined if it completed
   * @returns the new end of the run, if it differs, and what happened to its changes
   */
  land(stop: Stop | undefined): Promise<{ readonly stop?: Stop; readonly report?: TransactionReport }>
}

/** Everything that a run needs, made before it starts: after this, no configuration error is possible. */
export type RunOptions = {
  readonly model: Model
  readonly tools: ToolRegistry
  readonly sandbox: Sandbox
  /** The sandboxes for permissions granted during the run. Default: nothing can be granted. */
  readonly escalation?: Escalation
  /** Makes the Guardian; the context it gets belongs to this run. */
  readonly guard: (runContext: RunContext) => Guardian
  readonly session: Session
  /** Real path of the directory the run works in. */
  readonly workspace: string
  /** The environment variables of the caller, whose secrets are masked everywhere. */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly instructions: string
  /** The texts that the model gets before the prompt: its environment, its permissions, the instructions of user and repository. */
  readonly context: readonly string[]
  /** The current texts: the model gets additions between turns. Absent: there are none. */
  readonly lateContext?: () => readonly string[]
  /** Notices for the user before anything happens; each becomes an item in the stream. Absent: none. */
  readonly notices?: readonly string[]
  readonly prompt: string
  /** Calls that the prompt requests before the model begins. Absent: none. */
  readonly firstCalls?: readonly FirstCall[]
  /** Shown to the model with the prompt. Absent: none. */
  readonly images?: readonly Image[]
  /** The history and usage of a resumed session; the context is then part of it already. Absent: a new session. */
  readonly resumedFrom?: ResumedSession
  /** The approval policy's name, for the first event. */
  readonly approvalPolicy: string
  /** The schema of the final message; its tool is then among `tools`. Absent: none. */
  readonly output?: OutputContract
  /** Configuration that was found but is ignored, for the first event. Absent: none. */
  readonly ignoredConfig?: readonly Ignored[]
  /** Denied files that no sandbox enforces, or only in part, for the first event. Absent: none. */
  readonly looseDenies?: readonly LooseDeny[]
  readonly reasoningEffort: string | undefined
  /** Default: as the maker's own agent has it. */
  readonly verbosity?: 'low' | 'medium' | 'high' | undefined
  /** Lets the provider search the web. Absent: it may not. */
  readonly webSearch?: WebSearchRequestOptions
  /** How many tokens an answer may have. Default: the model's maximum, within the budget. */
  readonly maxOutputTokens?: number | undefined
  readonly budget: Budget
  /** What a model costs and how long its answers can be, by its name. */
  readonly factsOf: BudgetFacts
  /** How many tokens a request to a model may have before the conversation is compacted. Undefined: no limit. */
  readonly compactAt: (model: string) => number | undefined
  /** The current working place, if it can change. Absent: `workspace`, with `sandbox` and `escalation`. */
  readonly now?: () => ExecutionContext
  /** Texts for the model besides the context, in every run of a session. Absent: none. */
  readonly preamble?: readonly string[]
  /** Whether the run plans, so that it may change nothing. Absent: it acts. */
  readonly planMode?: PlanMode
  /** The hooks around every call and about the run. Default: none. */
  readonly hooks?: RunHooks
  /** The variables that hooks have set for commands so far. Absent: none. */
  readonly variables?: () => Readonly<Record<string, string>>
  /** How many calls may run in parallel. Default: 10. */
  readonly toolConcurrency?: number
  /** How much of a result the model is shown. Default: the limits without configuration. */
  readonly outputLimits?: OutputLimits
  /** Whether a person is there who can be asked. Default: no. */
  readonly attended?: boolean
  /** Receives the final message before the terminal event; returns the reason if that failed, which fails the run. Default: none. */
  readonly deliver?: (finalMessage: string) => string | undefined
  /**
   * Receives the function that makes calls for a client, and resolves when no more calls will come. No model is asked then, and no text counts as a
   * person's. Default: a model is asked.
   */
  readonly serve?: (take: TakeCall) => Promise<void>
  /** Whether the first refusal ends the run. */
  readonly failOnDenied: boolean
  /** Whether a run that completes without changes has failed. Default: no. */
  readonly failOnNoChange?: boolean
  /** The review. Absent: the run is not a review. */
  readonly review?: RunReview
  /** Tracks what commands write, for the parent run. Default: the run tracks its own commands. */
  readonly changes?: ChangeSource
  /** The verification when the model is done. Absent: none. */
  readonly verify?: Verification
  /** The private view that it works on. Absent: it works in the tree itself. */
  readonly transaction?: Transaction
  readonly sinks: readonly Sink[]
  /** Aborted with an `EndReason` as its reason to stop the run. */
  readonly signal: AbortSignal
}
