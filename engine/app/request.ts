import type { Writable } from 'node:stream'
import type { ReviewerAnswer } from '../../policies/index.ts'
import type { RunEvent, RunSummary, Sink } from '../core/events.ts'
import type { Image, Model } from '../core/model.ts'
import type { AskPerson } from '../approvals/ask-at-terminal.ts'
import type { Budget } from '../core/budget.ts'
import type { ReviewRequest } from '../review/request.ts'
import type { OutputSchema } from '../run/output-contract.ts'
import type { TakeCall } from '../run/serve-calls.ts'
import type { Start } from '../session/start-session.ts'
import type { Tool } from '../tools/tool.ts'
import type { ReviewerChoice } from './choose-reviewer.ts'
import type { RequestedSettings } from './load-settings.ts'

/** What a run is to do. */
export type Task =
  | {
      readonly type: 'prompt'
      /** The words, or what fetches them once the configuration is known to be right. */
      readonly prompt: string | (() => Promise<string>)
      /** Shown to the model with the prompt. Default: none. */
      readonly images?: readonly Image[]
    }
  /** No model is asked: the calls come from whoever opened the run, by `Run.call`, until it is closed. */
  | { readonly type: 'calls' }

/** Who is asked where the Guardian asks. */
type Reviewing = {
  /** Default: whom the configuration names, else the person, else nobody. */
  readonly by?: ReviewerChoice
  /** Opens the way to the person who watches; called once. Default: no person is there. */
  readonly person?: () => AskPerson
}

/** How a run is a transaction: it works on a private view, and all that it changed lands at its end, or nothing. */
export type TransactionRequest = {
  /** How the view is made. Default: by sharing blocks where the file system can, else by a copy of what is not too large. */
  readonly strategy?: 'auto' | 'copy' | 'reflink'
  /** When what it changed lands. Default: `on-success`, where it came to its own end. */
  readonly land?: 'on-success' | 'never' | 'always'
  /** Whether what git ignores lands too. Default: it is kept with the run. */
  readonly landIgnored?: boolean
  /**
   * Whether the branch that is checked out moves to the run's commits, if it is still where it was. Default: they are in the repository, under
   * `refs/heads/portcullis/SESSION`.
   */
  readonly landCommits?: boolean
}

/** Commands that run in the sandbox when the model is done; one that fails is told to the model, which works on. */
type VerificationRequest = {
  /** Lines for the shell. They are the user's words: nobody is asked about them, and rules that forbid hold. `[]`: none. Default: as configured. */
  readonly commands?: readonly string[]
  /** How often the model is told before the run has failed; 0: as often as its budget allows. Default: 2. */
  readonly attempts?: number
}

/**
 * What is wanted of a run, in words of the domain: nothing of a terminal, of a command line or of the process. Whatever is left out is as
 * the configuration says, or as `agent exec` without options has it.
 */
export type RunRequest = {
  readonly task: Task
  /** Real path of the directory to work in. */
  readonly workspace: string
  /** Variables that say where configuration lies and hold the keys of model providers. Commands get those of the process, as the sandbox's policy says. */
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** Where recordings are named from. Default: the workspace. */
  readonly from?: string
  readonly settings?: RequestedSettings
  /** Default: a new session. */
  readonly start?: Start
  /** Who begins a new session, in a client's own words. */
  readonly source?: string
  /** Keeps nothing of the run: no session, no audit log. Default: false. */
  readonly ephemeral?: boolean
  /** Works outside a git repository too. Default: false. */
  readonly outsideRepository?: boolean
  /** Whoever asks states that what is around the program is the sandbox. Default: false. */
  readonly externallySandboxed?: boolean
  /** Whether to plan only (true), or to carry out the plan that a resumed session holds (false). Default: as the session was left. */
  readonly plan?: boolean
  /** Works on a private view of the workspace. Default: as `transactional` of the configuration says, and as the session was left. */
  readonly transaction?: TransactionRequest
  /** What has to succeed when the model is done. Default: as `verify` of the configuration says, and as the session was left. */
  readonly verify?: VerificationRequest
  /** Fails where the provider has no web search. Default: it is done without. */
  readonly insistsOnSearch?: boolean
  readonly reviewing?: Reviewing
  /** Reviews a change, and changes nothing: the sandbox is read-only, and there is no tool that writes. Default: it works on the task. */
  readonly review?: ReviewRequest
  /** What the final message must meet. Default: anything goes. */
  readonly output?: OutputSchema
  /** Takes hold of where the final message goes, before anything runs; that gives why it could not be written, which fails the run. */
  readonly deliver?: () => (finalMessage: string) => string | undefined
  /** Default: no limit. */
  readonly budget?: Budget
  /** Ends the run at the first call that is refused. Default: false. */
  readonly failOnDenied?: boolean
  /** Fails a run that came to its own end and changed neither a file nor the commit that is checked out. Default: false. */
  readonly failOnNoChange?: boolean
  /** The file that the conversation is recorded in. Default: none. */
  readonly record?: string
  /** Used instead of the one that the configuration names. */
  readonly model?: Model
  /** Offered beside the built-in ones, before which they stand. Default: none. */
  readonly tools?: readonly Tool[]
  /** Interrupts the run when it is aborted, as `Run.interrupt` does. */
  readonly signal?: AbortSignal
  /** Told what happens, pieces of messages included, as it happens. Default: `Run.events` is all there is. */
  readonly sinks?: readonly Sink[]
  /** What the user should know before anything happens; each an item in the stream. Default: nothing. */
  readonly notices?: readonly string[]
  /** Hears what is to be said before there is a stream of events. Default: it is said there, as an item. */
  readonly warn?: (sentence: string) => void
  /** Takes the standard error of programs that answer for people. Default: nobody does. */
  readonly errors?: Writable
  /** Called when all that can be wrong with the request was looked at; from here on `Run.interrupt` ends the run in good order. */
  readonly loaded?: () => void
}

/** A run that was opened. It goes on by itself. */
export type Run = {
  /** Everything that is told from the moment this is first read: read it when the run is opened to miss nothing. Throws what `result` rejects with. */
  readonly events: AsyncIterable<RunEvent>
  /** Resolves when all is open and the run has begun. Rejects as `result` does. */
  readonly ready: Promise<void>
  /**
   * How the run ended, once its last event was told.
   *
   * Rejects with a `UserError` for what the user has to mend; nothing was run then.
   */
  readonly result: Promise<RunSummary>
  /**
   * Answers what the Guardian asks, where the request says that the caller does (`reviewing.by` of kind `caller`). Each question is a
   * `guardian_assessment` item in progress; there is one at a time.
   *
   * @param callId the item's; undefined where it has none
   * @returns false where nothing, or something else, is asked
   */
  answer(callId: string | undefined, answer: ReviewerAnswer): boolean
  /** Takes a call through the path that a model's calls take. Only for the task `calls`. */
  call: TakeCall
  /** Ends the run in good order, with its last event and its summary. Default reason: `interrupted`. */
  interrupt(reason?: 'interrupted' | 'terminated' | Error): void
  /** Ends the run if it goes on still, and resolves when all that was opened for it is closed. */
  close(): Promise<void>
}
