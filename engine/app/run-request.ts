import type { Writable } from 'node:stream'
import type { ReviewerAnswer } from '../../policies/index.ts'
import type { OverlayStart } from '../../sandbox/index.ts'
import type { RunEvent, RunSummary, Sink } from '../core/events.ts'
import type { Image, Model } from '../core/model.ts'
import type { AskPerson } from '../approvals/ask-at-terminal.ts'
import type { Budget } from '../core/budget-limits.ts'
import type { RequestGate } from '../core/request-gate.ts'
import type { ReviewRequest } from '../review/review-request.ts'
import type { OutputSchema } from '../run/output-contract.ts'
import type { TakeCall } from '../run/serve-calls.ts'
import type { Start } from '../session/start-session.ts'
import type { Tool } from '../tools/tool.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'
import type { RequestedSettings } from './load-settings.ts'

/** The task of a run. */
export type Task =
  | {
      readonly type: 'prompt'
      /** The prompt, or a function that fetches it after the configuration has been checked. */
      readonly prompt: string | (() => Promise<string>)
      /** Shown to the model with the prompt. Default: none. */
      readonly images?: readonly Image[]
    }
  /** No model is asked: the caller makes the calls with `Run.call`, until the run is closed. */
  | { readonly type: 'calls' }

/** The reviewer that answers the Guardian. */
type Reviewing = {
  /** Default: the reviewer in the configuration, else the person at the terminal, else none. */
  readonly by?: ReviewerChoice
  /** Connects to the person who watches; called once. Default: no person is there. */
  readonly person?: () => AskPerson
}

/** Makes the run a transaction: it works on a private view, and all its changes land at the end, or none do. */
export type TransactionRequest = {
  /** How the view is made. Default: by sharing blocks where the file system can, else by copying everything that is not too large, else by an overlay. */
  readonly strategy?: 'auto' | 'copy' | 'reflink' | 'overlay'
  /** When the changes land. Default: `on-success`, where the run came to its own end. */
  readonly land?: 'on-success' | 'never' | 'always'
  /** Whether files that git ignores land too. Default: they stay with the run. */
  readonly landIgnored?: boolean
  /**
   * Whether the branch that is checked out moves to the run's commits, if it is still where it was. Default: they are in the repository, under
   * `refs/heads/portcullis/SESSION`.
   */
  readonly landCommits?: boolean
}

/** Commands that run in the sandbox when the model is done. If one fails, the model is told and continues. */
type VerificationRequest = {
  /**
   * Shell command lines. They are the user's own, so they need no approval, but rules that forbid them apply. `[]`: none. Default: as
   * configured.
   */
  readonly commands?: readonly string[]
  /** How often the model is told before the run fails; 0: as often as its budget allows. Default: 2. */
  readonly attempts?: number
}

/**
 * The program that runs the request, if it exists only for this run. It can be restarted as the same process in a namespace with overlays, which a
 * running process can't enter.
 *
 * @internal
 */
export type OwnProcess = {
  /** The session for whose view it was restarted. Absent: it was not. */
  readonly startedFor?: string
  /**
   * Restarts it for the view of a session; `start` says how to start a program there. It doesn't return on success.
   *
   * @returns why it can't be restarted
   */
  readonly startAnew: (session: string, start: (program: readonly string[]) => OverlayStart) => string
}

/**
 * The caller's request for a run, in terms of the domain: no terminal, no command line, no process. Omitted fields are as configured, or as for
 * `agent exec` without options.
 */
export type RunRequest = {
  readonly task: Task
  /** Real path of the directory to work in. */
  readonly workspace: string
  /**
   * Variables that locate the configuration and contain the keys of model providers. Commands get the process's own variables, as the sandbox's
   * policy permits.
   */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** The directory to which paths of recordings are relative. Default: the workspace. */
  readonly from?: string
  readonly settings?: RequestedSettings
  /** Default: a new session. */
  readonly start?: Start
  /** The name of the client that begins a new session. */
  readonly source?: string
  /** Stores nothing about the run: no session, no audit log. Default: false. */
  readonly ephemeral?: boolean
  /** Works outside a git repository too. Default: false. */
  readonly outsideRepository?: boolean
  /** The caller states that an external sandbox surrounds the program. Default: false. */
  readonly externallySandboxed?: boolean
  /** Whether to plan only (true), or to carry out the plan that a resumed session holds (false). Default: as the session was left. */
  readonly plan?: boolean
  /** Works on a private view of the workspace. Default: the configured `transactional`, or as the session was left. */
  readonly transaction?: TransactionRequest
  /** The commands that must succeed when the model is done. Default: the configured `verify`, or as the session was left. */
  readonly verify?: VerificationRequest
  /** What a run needs for an overlay. Default: the program does other things too, and a run whose view would be an overlay is refused. */
  readonly ownProcess?: OwnProcess
  /** Fails if the provider has no web search. Default: the run continues without it. */
  readonly insistsOnSearch?: boolean
  readonly reviewing?: Reviewing
  /** Reviews a change, and changes nothing: the sandbox is read-only, and there is no tool that writes. Default: it works on the task. */
  readonly review?: ReviewRequest
  /** The schema that the final message must match. Default: none. */
  readonly output?: OutputSchema
  /**
   * Opens the destination of the final message before anything runs. The function that it returns gives the reason if the message could not
   * be written, which fails the run.
   */
  readonly deliver?: () => (finalMessage: string) => string | undefined
  /** Default: no limit. */
  readonly budget?: Budget
  /** Ends the run at the first call that is refused. Default: false. */
  readonly failOnDenied?: boolean
  /** Fails a run that ended normally and changed neither a file nor the checked-out commit. Default: false. */
  readonly failOnNoChange?: boolean
  /** The file to which the conversation is recorded. Default: none. */
  readonly record?: string
  /** The gate that each request to a provider passes, so that many runs share limits. Default: none. */
  readonly gate?: RequestGate
  /** Used instead of the configured model. */
  readonly model?: Model
  /** Additional tools, which win over built-in ones of the same name. Default: none. */
  readonly tools?: readonly Tool[]
  /** Interrupts the run when it is aborted, as `Run.interrupt` does. */
  readonly signal?: AbortSignal
  /** Receives everything that happens, including pieces of messages, as it happens. Default: only `Run.events`. */
  readonly sinks?: readonly Sink[]
  /** Notices for the user before anything happens; each becomes an item in the stream. Default: none. */
  readonly notices?: readonly string[]
  /** Receives notices before there is a stream of events. Default: they become items in the stream. */
  readonly warn?: (sentence: string) => void
  /** Receives the standard error of reviewer programs. Default: it is dropped. */
  readonly errors?: Writable
  /** Called after everything that can be wrong with the request has been checked; from here on `Run.interrupt` ends the run cleanly. */
  readonly loaded?: () => void
}

/** A run that was opened. It proceeds by itself. */
export type Run = {
  /**
   * All events from the moment of the first read: read them as soon as the run is open to miss nothing. Throws what `result` rejects with.
   */
  readonly events: AsyncIterable<RunEvent>
  /** Resolves when everything is open and the run has begun. Rejects like `result`. */
  readonly ready: Promise<void>
  /** How the run ended; resolves after its last event. Rejects with a `UserError` for problems that the user has to fix; nothing was run then. */
  readonly result: Promise<RunSummary>
  /**
   * Answers the Guardian's question, if the request names the caller as reviewer (`reviewing.by` of kind `caller`). Each question is a
   * `guardian_assessment` item in progress; there is one at a time.
   *
   * @param callId the item's call id; undefined if it has none
   * @returns false if there is no question, or another one
   */
  answer(callId: string | undefined, answer: ReviewerAnswer): boolean
  /** Handles a call like a model's. Only for the task `calls`. */
  call: TakeCall
  /** Ends the run cleanly, with its last event and its summary. Default reason: `interrupted`. */
  interrupt(reason?: 'interrupted' | 'terminated' | Error): void
  /** Ends the run if it still runs, and resolves when everything it opened is closed. */
  close(): Promise<void>
}
