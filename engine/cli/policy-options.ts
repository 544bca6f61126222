import type { sandboxModes } from './declare/shared-options.ts'

/** The options that select the policy with which `agent policy` judges commands. */
export type PolicyOptions = {
  readonly sandbox?: (typeof sandboxModes)[number]
  readonly askForApproval?: 'untrusted' | 'on-failure' | 'on-request' | 'never' | 'bypass'
  readonly rules: readonly string[]
  readonly trust?: true
  readonly isolated?: true
  readonly json?: true
  readonly from?: string
  /** Whether `agent policy check` exits with 0 whatever the decisions are. */
  readonly exitZero?: true
}

/** The options of `agent policy replay`. */
export type PolicyReplayOptions = Pick<PolicyOptions, 'sandbox' | 'askForApproval' | 'trust' | 'isolated' | 'json'> & {
  readonly config: readonly string[]
  readonly profile?: string
  /** The paths of rule files, or of folders that contain them. */
  readonly rules?: readonly string[]
  readonly permissions?: readonly string[]
  readonly failOn: (typeof replayFailures)[number]
  readonly examples: number
  readonly all?: true
}

/** The values of `--fail-on`, which decides which changes make `agent policy replay` exit with code 1. */
export const replayFailures = ['allow', 'any', 'none'] as const
