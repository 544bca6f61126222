import type { sandboxModes } from './declare/shared.ts'

/** Under what `agent policy` judges commands. */
export type PolicyOptions = {
  readonly sandbox?: (typeof sandboxModes)[number]
  readonly askForApproval?: 'untrusted' | 'on-failure' | 'on-request' | 'never' | 'bypass'
  readonly rules: readonly string[]
  readonly trust?: true
  readonly isolated?: true
  readonly json?: true
  readonly from?: string
}
