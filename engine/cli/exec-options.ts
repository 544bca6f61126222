import type { Severity } from '../core/severities.ts'
import type { ConfigOptions } from './declare/config-options.ts'

/** The options of `agent exec`, as parsed. The files that these options name are read later. */
export type ExecOptions = ConfigOptions & {
  readonly json?: true
  /** For `fork`: the step from which to continue. */
  readonly at?: number
  readonly threadSource?: string
  readonly color?: (typeof colours)[number]
  readonly quiet?: true
  readonly verbose?: true
  readonly outputLastMessage?: string
  readonly outputSchema?: string
  readonly failOnDenied?: true
  readonly failOnNoChange?: true
  readonly claims?: true
  readonly failOnContradiction?: true
  /** Files to which reports about the run are written, each in the format that its extension indicates. */
  readonly report?: readonly string[]
  /** `auto`: GitHub's step summary is written if `GITHUB_STEP_SUMMARY` names a file. `off`: it is never written. */
  readonly summary?: (typeof summaries)[number]
  readonly maxTurns?: number
  readonly maxTokens?: number
  readonly maxCost?: number
  readonly timeout?: number
  readonly stdinTimeout?: number
  /** Whether standard input is read. Default: true. */
  readonly stdin?: boolean
  readonly image?: readonly string[]
  /** Text that is added to the prompt. */
  readonly afterPrompt?: string
  readonly skipGitRepoCheck?: true
  readonly record?: string
  readonly printEventSchema?: true
  readonly showContext?: true
  readonly ephemeral?: true
  /** Set if `agent batch` started the run and opened a channel to it. */
  readonly supervised?: true
  readonly view?: ViewHow
  /** An older name of `--view`. */
  readonly transactional?: ViewHow
  readonly inPlace?: true
  readonly land?: (typeof landings)[number]
  readonly landIgnored?: 'yes' | 'no'
  /** The commands that verify the result. False: no commands. Absent: the commands of the resumed session, or else the configured commands. */
  readonly verify?: readonly string[] | false
  /** The commands that must also have failed before. */
  readonly verifyRed?: readonly string[]
  readonly verifyAttempts?: number
  readonly allowTestChanges?: true
  readonly allowWeakening?: readonly string[]
  /** Whether to plan first. Absent: a resumed session keeps its earlier choice; in a new session, the default is false. */
  readonly plan?: boolean
}

/** Options that only `agent exec review` has. */
export type ReviewOptions = {
  readonly uncommitted?: true
  readonly base?: string
  readonly commit?: string
  /** Files with reports of earlier reviews. */
  readonly known?: readonly string[]
  readonly failOn?: Severity
}

/** The values of the option that decides whether GitHub's step summary is written. */
export const summaries = ['auto', 'off'] as const

/** The values of the option that decides how a run's view is made. */
export const viewHows = ['auto', 'copy', 'reflink', 'overlay'] as const
type ViewHow = (typeof viewHows)[number]

/** The values of the option that decides when the changes of a run land. */
export const landings = ['on-success', 'never', 'always', 'each', 'ask'] as const

/** The values of the option that says whether the output is coloured. */
export const colours = ['auto', 'always', 'never'] as const
