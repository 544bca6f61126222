import type { Transaction } from './transaction.ts'
import type { ChangeSource } from '../core/changes/change-watch.ts'
import type { LooseDeny } from '../config/denied-files.ts'
import type { Guardian } from '../../policies/index.ts'
import type { Sandbox, CredentialUse, ServiceConnection } from '../../sandbox/index.ts'
import type { Ignored } from '../config/ignored.ts'
import type { Sink } from '../core/events.ts'
import type { ReviewReport } from '../core/review-report-schema.ts'
import type { Image, Model } from '../core/model.ts'
import type { Verification } from '../core/verification-settings.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { Escalation } from '../escalation/escalation.ts'
import type { CallTally } from '../tools/call-tally.ts'
import type { RunContext } from '../tools/run-context.ts'
import type { OutputLimits } from '../core/text/output-limits.ts'
import type { Session } from '../session/session.ts'
import type { BudgetFacts } from './budget-watch.ts'
import type { Budget } from '../core/budget-limits.ts'
import type { Conclusion } from './closing.ts'
import type { ResumedSession } from './resumed-session.ts'
import type { FirstCall } from './first-calls.ts'
import type { RunHooks } from '../tools/hook-interface.ts'
import type { Stop } from './stop.ts'
import type { TakeCall } from './serve-calls.ts'
import type { ClaimsCheck } from './claims.ts'
import type { OutputContract } from './output-contract.ts'
import type { WebSearchRequestOptions } from './approve-web-search.ts'
import type { RunJudge } from './judge/judge-attempt.ts'

/** Reports the connections of a run's commands, hooks and servers to services, and their uses of credentials. */
export type ServiceReports = {
  /** Passes each connection to the listener: when it has ended, or when the run ends and it is still open. `useListener` receives each use. */
  listen(
    listener: (connection: ServiceConnection, isOpen: boolean) => void,
    useListener: (use: CredentialUse) => void,
  ): void
  /** Passes on the connections that are still open, and none after them. */
  end(): void
}

/** The outcome of a review, which determines how the run ends. */
export type RunReview = {
  /** Returns the review's result; undefined if the model never delivered its findings. */
  readonly report: () => ReviewReport | undefined
  /** Returns why a completed run counts as failed because of the review's findings; undefined if it doesn't. */
  readonly failure: () => string | undefined
}

/** Agents that work beside a run. */
export type Delegates = {
  /** The ids of the agents whose reports nobody has received. */
  readonly unread: readonly string[]
  /** Waits until an agent has ended, and returns its report as text. */
  readonly reportOf: (id: string) => Promise<string>
  /** Stops the agents that still work. Resolves when none does any more. */
  readonly close: () => Promise<void>
}

/** Everything that a run needs. It is prepared before the run starts, so that no configuration error can occur during the run. */
export type RunOptions = {
  readonly model: Model
  readonly tools: ToolRegistry
  readonly sandbox: Sandbox
  /** Opens sandboxes with the permissions that are granted during the run. Default: nothing can be granted. */
  readonly escalation?: Escalation
  /** Called first, with a function that emits the run's last event at once, for a process that can't wait for the run to end. */
  readonly began?: (abandon: (stop: Stop) => void) => void
  /** Creates the Guardian for this run, given the run's context. */
  readonly guard: (runContext: RunContext) => Guardian
  readonly session: Session
  /** The real path of the directory in which the run works. */
  readonly workspace: string
  /** The caller's environment variables. The secrets among their values are masked everywhere. */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  readonly instructions: string
  /**
   * The texts that the model gets before the prompt: descriptions of its environment and its permissions, and the instructions of the user and the
   * repository.
   */
  readonly context: readonly string[]
  /**
   * Returns the texts for the model that have become available since the run began, such as the instructions of an MCP server that started late. The
   * model gets new texts between turns. Default: none.
   */
  readonly lateContext?: () => readonly string[]
  /** Notices that the user gets before anything else happens; each becomes an item in the stream. Default: none. */
  readonly notices?: readonly string[]
  readonly prompt: string
  /** Tool calls that the text of the prompt requests. They are made before the model begins. Default: none. */
  readonly firstCalls?: readonly FirstCall[]
  /** Images that the model is shown with the prompt. Default: none. */
  readonly images?: readonly Image[]
  /** The history and usage of a resumed session; its history already contains the context. Undefined for a new session. */
  readonly resumedFrom?: ResumedSession
  /** The approval policy's name, for the first event. */
  readonly approvalPolicy: string
  /** The schema of the final message. If a tool delivers the message, that tool is among `tools`. Default: none. */
  readonly output?: OutputContract
  /** Configuration that was found but is ignored; it is listed in the first event. Default: none. */
  readonly ignoredConfig?: readonly Ignored[]
  /** Denied files that the sandbox doesn't protect, or protects only in part; they are listed in the first event. Default: none. */
  readonly looseDenies?: readonly LooseDeny[]
  /** Reports the connections to services. Default: there are none. */
  readonly connections?: ServiceReports
  readonly reasoningEffort: string | undefined
  /** How detailed the model's answers should be. Default: the level that Codex uses for the model or, if there is none, the provider's. */
  readonly verbosity?: 'low' | 'medium' | 'high' | undefined
  /** How fast the provider is to answer, and at what price. Default: the provider's own. */
  readonly serviceTier?: string | undefined
  /** Options for the provider's web search. Absent: the provider may not search the web. */
  readonly webSearch?: WebSearchRequestOptions
  /** The maximum number of tokens in one answer from the model. Default: the model's own maximum, within the budget. */
  readonly maxOutputTokens?: number | undefined
  /** The agents to which the run has delegated work. Default: none. */
  readonly delegates?: Delegates
  readonly budget: Budget
  /** Returns the prices of the model with this name, and how long its answers can be. */
  readonly factsOf: BudgetFacts
  /** Returns how many tokens a request to the model with this name may have before the conversation is compacted; undefined if there is no limit. */
  readonly compactAt: (model: string) => number | undefined
  /** The run's plan mode: while it is on, the run may change nothing. Undefined if the run has no plan mode. */
  readonly planMode?: PlanMode
  /** The hooks for every call and for the run itself. Default: none. */
  readonly hooks?: RunHooks
  /** Returns the input with which a call that was denied is to be made instead, once. Default: it isn't made. */
  readonly replacement?: ((callId: string) => unknown) | undefined
  /** Returns the environment variables that hooks have set for commands so far. Default: none. */
  readonly variables?: () => Readonly<Record<string, string>>
  /** How many calls may run in parallel. Default: 10. */
  readonly toolConcurrency?: number
  /** The limits on how much of a tool's output the model is shown. Default: the built-in limits. */
  readonly outputLimits?: OutputLimits
  /** Whether a person is available to answer questions, such as requests for approval. Default: no. */
  readonly attended?: boolean
  /**
   * Receives the final message before the terminal event. Returns why the message could not be handled, in which case the run fails; otherwise
   * undefined. Default: nothing receives the message.
   */
  readonly deliver?: (finalMessage: string) => string | undefined
  /**
   * Writes reports of the run just before its last events, which are passed. Returns why some could not be written, in which case the run fails. Default:
   * there are no reports.
   */
  readonly report?: (conclusion: Conclusion) => Promise<readonly string[]>
  /** The tally of the run that this one works for as an agent. Default: it works for none. */
  readonly tally?: CallTally
  /**
   * Receives a function that makes tool calls for a client, and resolves when no more calls will come. With this option, no model is called, and no
   * text counts as written by a person. Default: a model is asked.
   */
  readonly serve?: (take: TakeCall) => Promise<void>
  /** Whether the first refusal ends the run. */
  readonly failOnDenied: boolean
  /** Whether a run that completes without changes counts as failed. Default: no. */
  readonly failOnNoChange?: boolean
  /** The check of the facts that the model claims at the end. Its `output` is part of `output`. Default: no facts are asked for. */
  readonly claims?: ClaimsCheck
  /** The outcome of the review, which determines how the run ends; undefined if the run is not a review. */
  readonly review?: RunReview
  /** For a sub-agent: the change tracking of its parent run. Default: the run itself tracks what its commands write. */
  readonly changes?: ChangeSource
  /** The verification that runs when the model is done. Default: none. */
  readonly verify?: Verification
  /** Judges the changes when `verify` has succeeded. Default: nothing does. */
  readonly judge?: RunJudge
  /** The absolute paths of the files that commands aren't shown because they hold secrets. Default: none. */
  readonly notShown?: readonly string[]
  /** The transaction with the private view that the run works on. Undefined if the run works in the workspace itself. */
  readonly transaction?: Transaction
  readonly sinks: readonly Sink[]
  /**
   * Stops the run when it is aborted. If the abort reason is `terminated` or an error, the run ends for that reason; otherwise it ends as
   * interrupted.
   */
  readonly signal: AbortSignal
}
