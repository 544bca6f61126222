import type { Guardian, Reviewer } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { RunHandle, SubAgents } from '../agents/sub-agents.ts'
import type { Model } from '../core/model.ts'
import type { McpServers } from '../mcp/servers.ts'
import type { RunHooks } from '../tools/hook-interface.ts'
import type { RunSummary, Sink } from '../core/events.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { BackgroundAgents } from '../tools/require-idle.ts'
import type { DynamicTools } from '../tools/dynamic-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { AgentDefinition } from '../skills/definition.ts'
import type { RestrictedCalls } from '../skills/restricted-calls.ts'
import type { RunPart } from '../run/run-part.ts'
import type { Closing } from './closing.ts'
import type { InSession } from './stages.ts'

/** The parts of a run's hooks that other features of the run use. */
type OpenHooks = {
  /** Returns the hooks that run before and after a sub-agent's tool calls. They refuse calls that its definition doesn't allow. */
  readonly hooksFor: (definition: AgentDefinition | undefined, id: string) => RunHooks
  /** Restricts the run to the given calls from now on. */
  readonly narrow: RestrictedCalls['narrow']
}

/**
 * The services that features provide to features that are opened after them. A service is undefined if the run doesn't have the feature, or if the
 * feature has not been opened yet.
 */
export type Services = {
  servers?: McpServers
  hooks?: OpenHooks
  agents?: SubAgents
}

/** What a feature gets when it is opened. */
export type Opened = InSession & {
  readonly services: Services
  /**
   * Receives a cleanup function for each resource as soon as the resource is open. The functions are called in reverse order when the run is over, or when it
   * could not begin because this feature or a later one failed.
   */
  readonly closing: Pick<Closing, 'add'>
  /** The run's sub-agents. */
  readonly agents: BackgroundAgents
  /** Returns a handle to the run. Must not be called before the run has begun. */
  readonly runHandle: () => RunHandle
  /** Reports a fact to the user as an event. If the event stream has not begun yet, the event is emitted when it begins. */
  readonly tell: (message: string) => void
  /** Opens the unconfined sandbox, for programs that are configured to run outside the sandbox. */
  readonly outside: () => Promise<Sandbox>
  /** Runs a model as a part of this run. The part shares everything with the run except what `part` contains. */
  readonly runPart: (part: RunPart) => Promise<RunSummary>
  /** Returns the tools that sub-agents may use. */
  readonly sharedTools: () => { readonly builtIn: readonly Tool[]; readonly mcp: DynamicTools }
  /** Wraps a model so that features can act before and after its requests. */
  readonly aroundModel: (model: Model) => Model
}

/** The parts that a feature adds to a run. Every field is optional. */
export type Contribution = {
  /** Tools for the run and its sub-agents. */
  readonly tools?: readonly Tool[]
  /** Tools for the run, but not for its sub-agents. They replace other tools of the same name. */
  readonly ownTools?: readonly Tool[]
  /** Tools that appear and disappear during the run. */
  readonly dynamicTools?: DynamicTools
  readonly hooks?: RunHooks
  /** Sinks that receive the run's events, in addition to the caller's own sinks. */
  readonly sinks?: readonly Sink[]
  /** Texts that the model gets before the first prompt of a session. */
  readonly context?: readonly string[]
  /** Notices for the user that are shown before the run does anything. */
  readonly notices?: readonly string[]
  readonly wrapModel?: (model: Model) => Model
  readonly wrapReviewer?: (reviewer: Reviewer) => Reviewer
  readonly wrapGuardian?: (guardian: Guardian) => Guardian
  /** Expands the prompt. It receives the prompt after the features before this one have expanded it. */
  readonly expandPrompt?: (prompt: string) => Promise<string>
  /** This feature's options for the run and its sub-agents. */
  readonly options?: Pick<Partial<RunOptions>, 'webSearch' | 'variables' | 'lateContext' | 'judge'>
}

/** An optional part of a run. The code that assembles a run uses features only through this type. */
export type Feature = {
  readonly name: string
  readonly open: (context: Opened) => Contribution | Promise<Contribution>
}
