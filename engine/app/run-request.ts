import type { Writable } from 'node:stream'
import type { ReviewerAnswer } from '../../policies/index.ts'
import type { OverlayStart } from '../../sandbox/index.ts'
import type { RunEvent, RunSummary, Sink } from '../core/events.ts'
import type { Image, Model } from '../core/model.ts'
import type { AskPerson } from '../approvals/ask-at-terminal.ts'
import type { Budget } from '../core/budget-limits.ts'
import type { RequestGate } from '../core/request-gate.ts'
import type { ReviewRequest } from '../review/review-request.ts'
import type { Conclusion } from '../run/closing.ts'
import type { OutputSchema } from '../run/output-contract.ts'
import type { TakeCall } from '../run/serve-calls.ts'
import type { Start } from '../session/start-session.ts'
import type { Tool } from '../tools/tool.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'
import type { RequestedSettings } from './load-settings.ts'
import type { RunClient } from './run-client.ts'

/** The task of a run. */
export type Task =
  | {
      readonly type: 'prompt'
      /** The prompt, or a function that fetches it after the configuration has been checked. */
      readonly prompt: string | (() => Promise<string>)
      /** Images that are shown to the model with the prompt. Default: none. */
      readonly images?: readonly Image[]
    }
  /** No model is asked: the caller makes the calls with `Run.call`, until the run is closed. */
  | { readonly type: 'calls' }

/** Who answers the Guardian's questions. */
type Reviewing = {
  /** The chosen reviewer. Default: the reviewer in the configuration, else the person at the terminal, else none. */
  readonly by?: ReviewerChoice
  /** Returns a function that asks the person who watches the run. Called once. Default: there is nobody to ask. */
  readonly person?: () => AskPerson
}

/** How a run works on its private view of the workspace, whose changes land at the end either all together or not at all. */
export type TransactionRequest = {
  /** How the view is made. Default: by sharing blocks if the file system supports that, else by copying if the trees are not too large, else by an overlay. */
  readonly strategy?: 'auto' | 'copy' | 'reflink' | 'overlay'
  /** When the changes land. Default: `on-success`, which lands them only if the run ended normally. `each`: also while the run works, after the calls of each response. */
  readonly land?: 'on-success' | 'never' | 'always' | 'each'
  /** Whether files that git ignores land too. Default: true. If false, they remain in the run's view. */
  readonly landIgnored?: boolean
  /** Whether the run works in the workspace itself, without a view. Its changes are there at once, and are neither judged nor undone. Default: false. */
  readonly inPlace?: boolean
}

/** Commands that are run in the sandbox when the model is done. If one fails, its failure is reported to the model, which continues. */
type VerificationRequest = {
  /**
   * Shell command lines. They come from the user, so they need no approval, but rules that forbid them apply. If the list is empty, nothing is run. Default:
   * the configured commands.
   */
  readonly commands?: readonly string[]
  /** Commands like these that must also have failed before the change. Default: none, or as in the resumed session. */
  readonly red?: readonly string[]
  /** How many times failures are reported to the model before the run fails; 0 means as many times as the budget allows. Default: 2. */
  readonly attempts?: number
  /** Whether a change may land whose tests were rewritten, so that they no longer pass as they were. Default: false. */
  readonly allowTestChanges?: boolean
  /** Globs of files whose tests or settings may become weaker. Default: none. */
  readonly allowWeakening?: readonly string[]
}

/**
 * The process that makes the request, if it exists only for this run. A running process can't enter a namespace with overlays, but a process that exists only
 * for this run can start again in such a namespace, and keeps its process id.
 *
 * @internal
 */
export type OwnProcess = {
  /** The id of the session for whose view the process was restarted; undefined if it wasn't restarted. */
  readonly startedFor?: string
  /**
   * Restarts the process so that it sees the overlays of a session's view. `start` returns how to start a program with these overlays. If the restart succeeds,
   * the call doesn't return.
   *
   * @returns why the process can't be restarted
   */
  readonly startAnew: (session: string, start: (program: readonly string[]) => OverlayStart) => Promise<string>
}

/**
 * A caller's request for a run. It doesn't depend on a terminal, a command line or a process. A field that is omitted has its configured value, or else the
 * default of `agent exec`.
 */
export type RunRequest = {
  readonly task: Task
  /** The real path of the directory to work in. */
  readonly workspace: string
  /**
   * Variables that locate the configuration and contain the keys of model providers. Commands don't get these variables. Instead, they get those variables of
   * this process that the sandbox's policy permits.
   */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** The directory against which relative paths of recordings are resolved. Default: the workspace. */
  readonly from?: string
  readonly settings?: RequestedSettings
  /** The session to begin with: a new one, a resumed one, or a fork. Default: a new session. */
  readonly start?: Start
  /** The name of the client that begins a new session. It is stored in the session. */
  readonly source?: string
  /** Whether to store nothing about the run: no session and no audit log. Default: false. */
  readonly ephemeral?: boolean
  /** Whether the run may work outside a git repository. Default: false. */
  readonly outsideRepository?: boolean
  /** Whether the caller states that an external sandbox surrounds the program. Default: false. */
  readonly externallySandboxed?: boolean
  /** Whether to plan only (true), or to carry out the plan of a resumed session (false). Default: as in the resumed session. */
  readonly plan?: boolean
  /** How the run's view is made and landed. Default: as configured. */
  readonly transaction?: TransactionRequest
  /** The commands that must succeed when the model is done. Default: the configured `verify`, or as in the resumed session. */
  readonly verify?: VerificationRequest
  /**
   * The process of this run, if it exists only for this run, as an overlay requires. If undefined, the process also serves other purposes, and a run
   * whose view would have to be an overlay is refused.
   */
  readonly ownProcess?: OwnProcess
  /** Makes the run fail if the provider has no web search. Default: the run continues without web search. */
  readonly insistsOnSearch?: boolean
  readonly reviewing?: Reviewing
  /** Makes the run review a change and change nothing: the sandbox is read-only, and there are no tools that write. Default: the run works on the task. */
  readonly review?: ReviewRequest
  /** The schema that the final message must match. Default: none. */
  readonly output?: OutputSchema
  /** Asks the model for facts about its work at the end, in place of `output`, and compares them with the record. `fail`: a contradiction makes the run fail. */
  readonly claims?: { readonly fail: boolean }
  /**
   * Opens the destination of the final message before anything runs. Returns a function that writes the message. If it can't be written, that
   * function returns the reason, and the run fails.
   */
  readonly deliver?: () => (finalMessage: string) => string | undefined
  /** The absolute path of the file to which `deliver` writes. What the run makes at this path doesn't land. */
  readonly deliversTo?: string
  /**
   * Writes reports of the run just before its last events, which are passed: only the events before them are in the session's folder. Returns why some reports
   * could not be written, in which case the run fails.
   */
  readonly report?: (conclusion: Conclusion) => Promise<readonly string[]>
  /** The limits on what the run may use. Default: no limits. */
  readonly budget?: Budget
  /** Whether the first refused call ends the run. Default: false. */
  readonly failOnDenied?: boolean
  /** Whether a run fails if it ended normally but changed neither a file nor the checked-out commit. Default: false. */
  readonly failOnNoChange?: boolean
  /** The file to which the conversation is recorded. Default: none. */
  readonly record?: string
  /** The gate that each request to a provider passes, so that many runs can share limits. Default: none. */
  readonly gate?: RequestGate
  /** The model to use instead of the configured one. */
  readonly model?: Model
  /** What the program that drives the run adds to it. Default: nothing. */
  readonly client?: RunClient
  /** Additional tools. They replace built-in tools of the same name. Default: none. */
  readonly tools?: readonly Tool[]
  /** A signal. When it is aborted, the run ends as if `Run.interrupt` had been called. Default: none. */
  readonly signal?: AbortSignal
  /** Sinks that receive every event as it happens, including partial messages. Default: events are available only in `Run.events`. */
  readonly sinks?: readonly Sink[]
  /** Notices that the user gets before the run does anything. Each becomes an item in the event stream. Default: none. */
  readonly notices?: readonly string[]
  /** Receives the notices that are issued before the event stream begins. Default: they become items in the stream. */
  readonly warn?: (sentence: string) => void
  /** Receives the standard error of reviewer programs. Default: it is discarded. */
  readonly errors?: Writable
  /** Called when the request has been checked completely. An interruption after that ends the run cleanly, with its last event and its summary. */
  readonly loaded?: () => void
  /**
   * Called when the changes of a transaction are about to land. From then on until the last event, the process must not exit: an interruption takes the changes
   * back, unless they have all landed already.
   */
  readonly landing?: () => void
}

/** A run that was opened. It proceeds without any further calls from its caller. */
export type Run = {
  /**
   * The events of the run from the moment at which the caller first accesses this property. To miss none, access it as soon as the run is open. After
   * the last event, throws the error with which `result` rejects, if there is one.
   */
  readonly events: AsyncIterable<RunEvent>
  /** Resolves when everything is open and the run has begun. Rejects like `result`. */
  readonly ready: Promise<void>
  /** The outcome; resolves after the last event. Rejects with a `UserError` for problems that the user has to fix; then nothing has been run. */
  readonly result: Promise<RunSummary>
  /**
   * Answers the Guardian's question if the request names the caller as reviewer (`reviewing.by` of kind `caller`). Each question is a `guardian_assessment`
   * item in progress; there is only one at a time.
   *
   * @param callId the item's call id; undefined if it has none
   * @returns false if no question is open, or the open question belongs to a different call
   */
  answer(callId: string | undefined, answer: ReviewerAnswer): boolean
  /** Handles a call as if a model had made it. Only for the task `calls`. */
  call: TakeCall
  /** Ends the run cleanly, with its last event and its summary. Default reason: `interrupted`. */
  interrupt(reason?: 'interrupted' | 'terminated' | Error): void
  /**
   * Emits the run's last event at once, for a process that is about to exit without waiting for the run.
   *
   * @returns false if the run hasn't begun, so that it has no events
   */
  abandon(reason: 'interrupted' | 'terminated' | Error): boolean
  /** Ends the run if it is still running, and resolves when everything that it opened is closed. */
  close(): Promise<void>
}
