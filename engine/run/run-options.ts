import type { ChangeSource } from '../core/changes/change-watch.ts'
import type { LooseDeny } from '../config/denied-files.ts'
import type { Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Ignored } from '../config/ignored.ts'
import type { RunEvent, Sink } from '../core/events.ts'
import type { ReviewReport } from '../core/review.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import type { Image, Model } from '../core/model.ts'
import type { Verification } from '../core/verification.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { Escalation } from '../escalation/escalation.ts'
import type { RunContext } from '../tools/run-context.ts'
import type { OutputLimits } from '../core/text/output-limits.ts'
import type { Session } from '../session/session.ts'
import type { BudgetFacts } from './budget-watch.ts'
import type { Budget } from '../core/budget.ts'
import type { ResumedSession } from './resumed-session.ts'
import type { FirstCall } from './first-calls.ts'
import type { RunHooks } from '../tools/hook-interface.ts'
import type { Stop } from './stop.ts'
import type { TakeCall } from './serve-calls.ts'
import type { OutputContract } from './output-contract.ts'
import type { WebSearchRequestOptions } from './approve-web-search.ts'
import type { ExecutionContext } from './execution-context.ts'

/** What a run is that reviews a change: its work is what it finds. */
export type RunReview = {
  /** What it came to; undefined where its findings never came. */
  readonly report: () => ReviewReport | undefined
  /** Why a run that came to its own end fails for what it found. Undefined: it doesn't. */
  readonly failure: () => string | undefined
}

/** A run that works on a private view, and whose changes land at its end or not at all. */
export type Transaction = {
  /** What the first event says of it. */
  readonly facts: NonNullable<Extract<RunEvent, { type: 'thread.started' }>['config']['transaction']>
  /** Finds out what is in the view. */
  readonly changes: ChangeSource
  /**
   * Lands what changed, where that is wanted for a run that ended so. To be called when no command runs any more.
   *
   * @param stop how the run ended; undefined where it came to its own end
   * @returns how the run ends after all, where that differs, and what became of its changes
   */
  land(stop: Stop | undefined): Promise<{ readonly stop?: Stop; readonly report?: TransactionReport }>
}

/** Everything a run needs, made before it starts: from here on nothing of the configuration can fail. */
export type RunOptions = {
  readonly model: Model
  readonly tools: ToolRegistry
  readonly sandbox: Sandbox
  /** The wider sandboxes of what is granted during the run. Default: nothing can be granted. */
  readonly escalation?: Escalation
  /** Makes the Guardian; what it is lent belongs to this run. */
  readonly guard: (runContext: RunContext) => Guardian
  readonly session: Session
  /** Real path of the directory the run works in. */
  readonly workspace: string
  /** The variables that whoever opened the run goes by, whose secrets nobody is shown. */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly instructions: string
  /** What the model is told before the prompt: where it is, what it may do, the instructions of user and repository. */
  readonly context: readonly string[]
  /** The same, as far as it is known at a moment: what has come since is told between turns. Absent: nothing comes. */
  readonly lateContext?: () => readonly string[]
  /** What the user should know before anything happens; each an item in the stream. Absent: nothing. */
  readonly notices?: readonly string[]
  readonly prompt: string
  /** What the prompt wants run or read before the model begins. Absent: nothing. */
  readonly firstCalls?: readonly FirstCall[]
  /** Shown to the model with the prompt. Absent: none. */
  readonly images?: readonly Image[]
  /** What was said before, and what that took, when a session is resumed; the context is then part of it already. */
  readonly resumedFrom?: ResumedSession
  /** The approval policy's name, for the first event. */
  readonly approvalPolicy: string
  /** What the final message must meet; its tool is among `tools` then. Absent: anything goes. */
  readonly output?: OutputContract
  /** Configuration that was found and does not count, for the first event. Absent: none. */
  readonly ignoredConfig?: readonly Ignored[]
  /** Denies of files that no sandbox enforces, or not all of them, for the first event. Absent: none. */
  readonly looseDenies?: readonly LooseDeny[]
  readonly reasoningEffort: string | undefined
  /** Default: as the maker's own agent has it. */
  readonly verbosity?: 'low' | 'medium' | 'high' | undefined
  /** That the provider may search the web. Absent: it doesn't. */
  readonly webSearch?: WebSearchRequestOptions
  /** How many tokens an answer may have. Default: what the model gives, and the budget allows. */
  readonly maxOutputTokens?: number | undefined
  readonly budget: Budget
  /** What a model costs and how long its answers can be, by its name. */
  readonly factsOf: BudgetFacts
  /** How many tokens a request to a model may have before the conversation is summed up. Undefined: as many as it takes. */
  readonly compactAt: (model: string) => number | undefined
  /** Where it works at a moment, if that changes. Absent: in `workspace`, with `sandbox` and `escalation`. */
  readonly now?: () => ExecutionContext
  /** What the model is told beside the context in every run of a session. Absent: nothing. */
  readonly preamble?: readonly string[]
  /** Whether the run plans, so that it may change nothing. Absent: it acts. */
  readonly planMode?: PlanMode
  /** What is asked around every call and told of the run. Default: nothing. */
  readonly hooks?: RunHooks
  /** Variables that hooks have set for commands by now. Absent: none. */
  readonly variables?: () => Readonly<Record<string, string>>
  /** How many calls may run at a time, of those that may run beside others. Default: 10. */
  readonly toolConcurrency?: number
  /** How much of a result the model is shown. Default: as where nothing is configured. */
  readonly outputLimits?: OutputLimits
  /** Whether a person is there who can be asked. Default: no. */
  readonly attended?: boolean
  /** Takes the final message before the run tells its end; gives why it could not, which then fails the run. Default: nobody does. */
  readonly deliver?: (finalMessage: string) => string | undefined
  /**
   * Takes the way that calls go which come from elsewhere, and resolves when no more will come. No model is asked then, and no person has
   * said anything. Default: a model is asked.
   */
  readonly serve?: (take: TakeCall) => Promise<void>
  /** Whether the first refusal ends the run. */
  readonly failOnDenied: boolean
  /** Whether a run that came to its own end and changed nothing has failed. Default: no. */
  readonly failOnNoChange?: boolean
  /** What it reviews. Absent: it is no review. */
  readonly review?: RunReview
  /** Sees what commands write, for the run that this one works for. Default: the run counts for itself. */
  readonly changes?: ChangeSource
  /** What is run when the model is done, and has to succeed. Absent: nothing. */
  readonly verify?: Verification
  /** The private view that it works on. Absent: it works in the tree itself. */
  readonly transaction?: Transaction
  readonly sinks: readonly Sink[]
  /** Aborted with an `EndReason` as its reason to stop the run. */
  readonly signal: AbortSignal
}
