/** The data of a report, independent of its format. All its texts are untrusted: a model wrote them, a repository, or a program. */
export type Report = {
  readonly threadId: string
  /** Absolute path of the session's folder, or of the file that was read. */
  readonly source: string
  /** Each run of the session, in order; the last is what the report is about. Never empty. */
  readonly runs: readonly ReportRun[]
  readonly steps: readonly Step[]
  /** Steps in the middle that are left out, since there were too many; each still counts. */
  readonly omittedSteps: number
  /** Characters of outputs that are left out so that the report stays small. */
  readonly omittedCharacters: number
  readonly files: readonly ChangedFile[]
  readonly findings: readonly Finding[]
  readonly totals: {
    readonly steps: number
    readonly commands: number
    readonly failedCommands: number
    readonly refused: number
  }
  /** Lines that could not be read. */
  readonly unreadable: number
}

/** One run of a session. */
export type ReportRun = {
  readonly prompt: string | undefined
  /** What the model was told before the prompt: its surroundings, the instructions of user and repository. */
  readonly context: readonly string[]
  readonly model: string | undefined
  readonly workspace: string | undefined
  /** Its configuration, as names and values. */
  readonly configuration: readonly (readonly [name: string, value: string])[]
  /** Configuration that was found and didn't count, and denies that no sandbox enforces, as sentences. */
  readonly notes: readonly string[]
  /** Facts outside the sandbox, as sentences. */
  readonly outside: readonly string[]
  /** The commands to verify the result. */
  readonly verify: readonly string[]
  readonly budget: { readonly maxTokens?: number; readonly maxCost?: number; readonly maxTurns?: number }
  /** Milliseconds since 1970. */
  readonly began: number | undefined
  readonly program: string | undefined
  /** Undefined where it was cut off. */
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
  /** How the commands of `--verify` went when they ran last. */
  readonly verified: readonly {
    readonly command: string
    readonly passed: boolean
    readonly exitCode: number | undefined
    readonly durationMs: number
    readonly attempts: number
  }[]
  readonly claims: readonly { readonly text: string; readonly why: string }[]
  readonly runsLater: readonly { readonly path: string; readonly program: string }[]
  readonly notCounted: string | undefined
  readonly changedFiles: number | undefined
  /** What became of the changes of a transaction. Undefined: it was none. */
  readonly transaction: { readonly outcome: string; readonly canUndo: boolean } | undefined
}

/** The usage up to a moment. */
export type Spending = { readonly step: number; readonly tokens: number; readonly costUsd: number | undefined }

export type StepStatus = 'ok' | 'failed' | 'refused' | 'open' | 'note'

/** One thing that happened. */
export type Step = {
  /** Counted from 1 over the whole session. */
  readonly number: number
  readonly kind: StepKind
  /** The agent that did it; undefined: the run itself. */
  readonly agent: string | undefined
  readonly title: string
  readonly status: StepStatus
  /** The label of the status: `exit 1`, `timeout`. */
  readonly outcome: string | undefined
  readonly at: number | undefined
  readonly durationMs: number | undefined
  readonly parts: readonly Part[]
  readonly verdict: StepVerdict | undefined
  readonly denials: readonly StepDenial[]
  readonly granted: readonly string[]
  readonly files: readonly { readonly path: string; readonly kind: string }[]
  /** What the response cost that this step is the first of. */
  readonly spent: { readonly tokens: number; readonly costUsd: number | undefined } | undefined
  /** The finding for the step. Absent: none. */
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
  | 'worktree'
  | 'verify'
  | 'retry'
  | 'finding'
  | 'error'

/** Text of a step. */
export type Part = {
  readonly label: string
  readonly text: string
  readonly format: 'plain' | 'markdown' | 'output' | 'diff' | 'shell' | 'json'
  /** The file with the whole text, when it was cut. */
  readonly whole?: string | undefined
}

/** The Guardian's decision. */
export type StepVerdict = {
  readonly decision: string
  readonly decidedBy: string
  readonly reason: string
  /** `file:line` and the text of the rule. */
  readonly rule: string | undefined
}

/** Something that the sandbox refused. */
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
  /** No patch changed it, so there is no diff. */
  readonly byCommand: boolean
  readonly added: number
  readonly removed: number
  /** The patches that changed it, as unified diffs. */
  readonly diffs: readonly { readonly step: number; readonly diff: string }[]
  /** Patches of it that are left out, since there were too many; their lines are counted. */
  readonly omittedDiffs: number
}

/** A location to look at, for readers of such lists. */
export type Finding = {
  /** What the finding is of: `guardian/rule`, `sandbox/path`, `claim/tests`, or a review's own. */
  readonly ruleId: string
  readonly title: string
  readonly message: string
  readonly severity: 'low' | 'medium' | 'high' | 'critical'
  /** Relative to the workspace; undefined where it is of no file. */
  readonly path: string | undefined
  readonly startLine: number | undefined
  readonly endLine: number | undefined
  /** Identical for the same finding in another run. */
  readonly fingerprint: string
  readonly step: number | undefined
  /** The fields of a review's finding only. */
  readonly review?: ReviewedFinding | undefined
}

/** The further fields of a review's finding. */
export type ReviewedFinding = {
  readonly category: string
  readonly confidence: number
  /** A patch in the format of `apply_patch`; undefined: there is none. */
  readonly suggestion: string | undefined
  /** The same as new text for lines. */
  readonly replacement: { readonly startLine: number; readonly endLine: number; readonly text: string } | undefined
  readonly linePrints: readonly string[]
  /** An earlier report has it, so people are not told again. */
  readonly known: boolean
}
