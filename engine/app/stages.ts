import type { ApprovalMode } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Config } from '../config/load-config.ts'
import type { DeniedFiles } from '../config/denied-files.ts'
import type { Project } from '../config/read-project.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { Escalation } from '../escalation/escalation.ts'
import type { Memory, MemoryPlaces } from '../memory/read-memory.ts'
import type { Model } from '../core/model.ts'
import type { Verification } from '../core/verification-settings.ts'
import type { ModelFacts } from '../models/index.ts'
import type { AppPaths } from '../core/app-paths.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { Policies } from '../config/read-policies.ts'
import type { Review } from '../review/review.ts'
import type { ClaimsCheck } from '../run/claims.ts'
import type { OutputContract } from '../run/output-contract.ts'
import type { ExecutionContext } from '../run/execution-context.ts'
import type { Session } from '../session/session.ts'
import type { Beginning } from '../session/start-session.ts'
import type { Tool } from '../tools/tool.ts'
import type { OutsideEffects } from './outside-effects.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'
import type { NamedPrompt } from './expand-prompt.ts'
import type { ForbidsHost } from './forbidden-hosts.ts'
import type { OpenReviewer } from './open-reviewer.ts'
import type { Extensions } from './read-extensions.ts'
import type { NetworkWatch, OpenSandbox } from './run-sandbox.ts'
import type { ServiceConnections } from './service-connections.ts'
import type { RunRequest } from './run-request.ts'
import type { OpenTransaction } from './run-transaction.ts'

/**
 * The state of a run after the configuration of the machine, the user and the repository was read. No model, session or sandbox has been opened yet.
 */
export type Configured = {
  readonly request: RunRequest
  readonly places: AppPaths
  readonly home: string
  readonly project: Project
  readonly workspace: string
  readonly config: Config
  readonly settings: Settings
  readonly policies: Policies
  readonly memoryPlaces: MemoryPlaces
  readonly memory: Memory
  readonly approvalMode: ApprovalMode
}

/**
 * The state of a run after its request has been checked completely. The model and the reviewer are ready to receive requests; no command has run yet.
 */
export type Loaded = Configured & {
  /** The prompt as the user gave it, or as expanded from a command or skill. Undefined if the caller makes the tool calls. */
  readonly named: NamedPrompt | undefined
  readonly deliver: ((finalMessage: string) => string | undefined) | undefined
  readonly extensions: Extensions
  readonly userTools: readonly Tool[]
  readonly beginning: Beginning
  /** Tells the user why no overlays are mounted for this run. Undefined: they are mounted, or the run needs none. */
  readonly noOverlay: string | undefined
  readonly model: Model
  /** Opens a model by its name. */
  readonly openNamed: (name: string) => Promise<Model>
  readonly output: OutputContract | undefined
  /** The check of the facts that the model claims at the end. Undefined: no facts are asked for. */
  readonly claims: ClaimsCheck | undefined
  /** The commands that must succeed when the model is done. Undefined: there are no such commands. */
  readonly verify: Verification | undefined
  /** The review to carry out. Undefined: the run works on a task. */
  readonly codeReview: Review | undefined
  readonly choice: ReviewerChoice
  readonly review: OpenReviewer
  readonly factsOf: (name: string) => ModelFacts
}

/** The state of a run after its sandbox was opened. */
export type Confined = Loaded & {
  readonly sandbox: Sandbox
  readonly escalation: Escalation
  readonly denied: DeniedFiles
  /** The absolute paths of the files that commands aren't shown because they hold secrets. */
  readonly notShown: readonly string[]
  readonly forbids: ForbidsHost
  /** What watches the network of the run's sandbox. Each further sandbox of the run has the same. */
  readonly watch: NetworkWatch
  readonly connections: ServiceConnections
  /** Opens further sandboxes with the same backend. */
  readonly openLike: OpenSandbox
  /** Records effects outside the transaction. Absent: the run is not a transaction. */
  readonly effects?: OutsideEffects
  /** The run's private view and its session, which is already open. Absent: the run works in the tree itself. */
  readonly transaction?: OpenTransaction
}

/** The state of a run whose session is open. If an interrupted patch had left changes half done, the run has tried to complete or undo them. */
export type InSession = Confined & {
  readonly session: Session
  readonly planMode: PlanMode
  /** The working directory and the sandbox in which the run began. */
  readonly began: ExecutionContext
  /** Sentences that tell the user whether an interrupted patch was completed, undone or could not be recovered; usually none. */
  readonly recovered: readonly string[]
  /** Aborted when the run should end. */
  readonly signal: AbortSignal
}
