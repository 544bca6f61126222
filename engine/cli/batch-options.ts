import type { ConfigOptions } from './declare/config-options.ts'

/** What a batch says to each of its runs, beside how they are configured. */
export type RunLimits = {
  readonly maxTurns?: number
  readonly maxTokens?: number
  readonly timeout?: number
  readonly failOnNoChange?: true
  readonly verify?: readonly string[]
  readonly verifyAttempts?: number
}

/** What `agent batch run` was asked to do, as parsed. */
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
    readonly retrySeconds?: number
  }

/** What `agent batch report` prints. */
export type BatchReportOptions = { readonly format?: (typeof batchReportFormats)[number] }

/** How the statistics of a batch are printed. */
export const batchReportFormats = ['text', 'md', 'csv', 'json'] as const
