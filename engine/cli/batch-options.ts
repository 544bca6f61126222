import type { ConfigOptions } from './declare/config-options.ts'

/** The limits and checks of each run in a batch, with the same names and meanings as the options of `agent exec`. */
export type RunLimits = {
  readonly maxTurns?: number
  readonly maxTokens?: number
  readonly timeout?: number
  readonly failOnNoChange?: true
  readonly verify?: readonly string[]
  readonly verifyAttempts?: number
}

/** The options of `agent batch run`, as parsed. */
export type BatchRunOptions = ConfigOptions &
  RunLimits & {
    readonly output: string
    readonly workers?: number
    readonly repeat: number
    readonly shard?: string
    readonly attempts: number
    readonly maxCost?: number
    readonly maxCostPerRun?: number
    readonly rpm?: number
    readonly tpm?: number
    readonly filter?: readonly string[]
    readonly slice?: string
    readonly shuffle?: number
    readonly limit?: number
    readonly dryRun?: true
    readonly queue?: string
    readonly throughQueue?: true
    readonly retrySeconds?: number
  }

/** The options of `agent batch report`. */
export type BatchReportOptions = { readonly format?: (typeof batchReportFormats)[number] }

/** The formats in which a batch's statistics can be shown. */
export const batchReportFormats = ['text', 'md', 'csv', 'json'] as const
