import type { Judgement, RunRecord } from '../core/run-record.ts'

/** The data of a report, independent of its format. Its texts come from models, repositories and programs, so none of them is trusted. */
export type Report = {
  readonly threadId: string
  /** The absolute path of the session's folder, or of the file that was read. */
  readonly source: string
  /** The runs of the session in order. The report is about the last one. Never empty. */
  readonly runs: readonly ReportRun[]
  readonly steps: readonly Step[]
  /** How many steps in the middle were left out because there were too many. The totals include them. */
  readonly omittedSteps: number
  /** How many characters of output were left out to keep the report small. */
  readonly omittedCharacters: number
  readonly files: readonly ChangedFile[]
  readonly findings: readonly Finding[]
  readonly totals: {
    readonly steps: number
    readonly commands: number
    readonly failedCommands: number
    readonly refused: number
  }
  /** How many lines of the session's record could not be read. */
  readonly unreadable: number
  /** Whether the run is an attempt in a batch. If so, the session's folder is moved next to the report, and the run's working tree and view are removed. */
  readonly isOfBatch?: boolean
  /** The workflow that ran it. Absent: what the run left is where it was. */
  readonly job?: GitHubJob
}

/** A run of a GitHub workflow. Its machine is gone when somebody reads its reports, so they name no command for that machine. */
type GitHubJob = {
  /** The page that lists what the workflow kept. */
  readonly artifacts: string
  /** The command that downloads it. */
  readonly download: string
}

/** One run of a session. */
export type ReportRun = {
  readonly prompt: string | undefined
  /** The texts that the model got before the prompt: its environment, and the instructions of the user and the repository. */
  readonly context: readonly string[]
  readonly model: string | undefined
  readonly workspace: string | undefined
  /** The run's configuration, as names and values. */
  readonly configuration: readonly (readonly [name: string, value: string])[]
  /** Notices: configuration that was ignored, and deny rules and limits that the sandbox enforces only in part or not at all. */
  readonly notes: readonly string[]
  /** What the run could do outside the sandbox, as sentences. */
  readonly outside: readonly string[]
  /** The user's `--verify` commands, which verify the run's result. */
  readonly verify: readonly string[]
  readonly budget: { readonly maxTokens?: number; readonly maxCost?: number; readonly maxTurns?: number }
  /** When the run began, in milliseconds since 1970. */
  readonly began: number | undefined
  readonly program: string | undefined
  /** How the run ended. Undefined: the run was cut off. */
  readonly end: RunEnd | undefined
  readonly spending: readonly Spending[]
  readonly ephemeral: boolean
}

/** How a run ended. */
export type RunEnd = {
  readonly result: string
  readonly reason: string
  readonly exitCode: number
  readonly message: string | undefined
  readonly durationMs: number | undefined
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly costUsd: number | undefined
  readonly denied: number
  readonly auditHead: string | undefined
  /** The results of the `--verify` commands in their last run. */
  readonly verified: readonly {
    readonly command: string
    readonly passed: boolean
    readonly exitCode: number | undefined
    readonly durationMs: number
    readonly attempts: number
    /** How the change was judged. Undefined: it wasn't. */
    readonly judged: Judgement | undefined
  }[]
  /** What the run did, from its record. Undefined: the run was made by another version. */
  readonly record: RunRecord | undefined
  /** What the model claimed at the end, and what the record says instead. */
  readonly contradictions: readonly { readonly claimed: string; readonly record: string }[]
  readonly runsLater: readonly { readonly path: string; readonly program: string }[]
  readonly notCounted: string | undefined
  readonly changedFiles: number | undefined
  /** What happened to the changes of a transaction. Undefined: the run wasn't a transaction. */
  readonly transaction: { readonly outcome: string; readonly canUndo: boolean } | undefined
}

/** The usage from the beginning of a run up to a step. */
export type Spending = {
  readonly step: number
  /** The number of responses from the beginning of the run up to the step. */
  readonly turns: number
  readonly tokens: number
  readonly costUsd: number | undefined
}

export type StepStatus = 'ok' | 'failed' | 'refused' | 'open' | 'note'

/** One step of a session, such as a call or a message. */
export type Step = {
  /** The number of the step in the session, counted from 1. */
  readonly number: number
  readonly kind: StepKind
  /** The sub-agent that took the step; undefined for the run itself. */
  readonly agent: string | undefined
  readonly title: string
  readonly status: StepStatus
  /** A label next to the status, such as `exit 1` or `timeout`. */
  readonly outcome: string | undefined
  readonly at: number | undefined
  readonly durationMs: number | undefined
  readonly parts: readonly Part[]
  readonly verdict: StepVerdict | undefined
  readonly denials: readonly StepDenial[]
  readonly granted: readonly string[]
  readonly files: readonly { readonly path: string; readonly kind: string }[]
  /** The tokens and the cost of the response that began with this step. */
  readonly spent: { readonly tokens: number; readonly costUsd: number | undefined } | undefined
  /** The finding that this step reports; undefined if there is none. */
  readonly finding?: Omit<Finding, 'step'> | undefined
}

export type StepKind =
  | 'message'
  | 'reasoning'
  | 'command'
  | 'patch'
  | 'tool'
  | 'mcp'
  | 'review'
  | 'compaction'
  | 'hook'
  | 'todo'
  | 'plan'
  | 'search'
  | 'verify'
  | 'retry'
  | 'finding'
  | 'error'

/** One of the texts of a step, such as its command or its output. */
export type Part = {
  readonly label: string
  readonly text: string
  readonly format: 'plain' | 'markdown' | 'output' | 'diff' | 'shell' | 'json'
  /** The file that contains the whole text, if the text was cut. */
  readonly whole?: string | undefined
}

/** The Guardian's decision about a step. */
export type StepVerdict = {
  readonly decision: string
  readonly decidedBy: string
  readonly reason: string
  /** The rule that led to the decision: its location (`FILE:LINE`), followed by its text. */
  readonly rule: string | undefined
}

/** An access that the sandbox denied. */
export type StepDenial = {
  readonly kind: string
  readonly subject: string
  readonly rule: string
  readonly certain: boolean
  readonly howToAllow: string
}

/** A file that a run changed. */
export type ChangedFile = {
  readonly path: string
  readonly kind: string
  /** Whether only commands changed the file. If so, there is no diff. */
  readonly byCommand: boolean
  readonly added: number
  readonly removed: number
  /** The patches that changed the file, as unified diffs. */
  readonly diffs: readonly { readonly step: number; readonly diff: string }[]
  /** How many patches to the file were left out because there were too many. The line counts include them. */
  readonly omittedDiffs: number
}

/** A finding, which may have a location in a file. */
export type Finding = {
  /** The rule behind the finding, such as `guardian/rules`, `sandbox/path`, `claim/contradicted` or `review/security`. */
  readonly ruleId: string
  readonly title: string
  readonly message: string
  readonly severity: 'low' | 'medium' | 'high' | 'critical'
  /** The path, absolute or relative to the workspace; undefined if the finding isn't about a file. */
  readonly path: string | undefined
  readonly startLine: number | undefined
  readonly endLine: number | undefined
  /** Identifies the finding: the same finding has the same fingerprint in every run. */
  readonly fingerprint: string
  readonly step: number | undefined
  /** The fields that only a review's finding has; undefined for any other finding. */
  readonly review?: ReviewedFinding | undefined
}

/** The fields that only a review's finding has. */
export type ReviewedFinding = {
  readonly category: string
  readonly confidence: number
  /** The suggested change, as a patch in `apply_patch` format; undefined if there is none. */
  readonly suggestion: string | undefined
  /** The suggestion as new text for a range of lines; undefined if there is none. */
  readonly replacement: { readonly startLine: number; readonly endLine: number; readonly text: string } | undefined
  readonly linePrints: readonly string[]
  /** Whether an earlier report contains the finding. If so, nobody is notified again. */
  readonly known: boolean
}
