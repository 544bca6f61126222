import type { RunOptions } from './run-options.ts'

/** The options that differ between a run and its sub-agents. */
export type RunPart = Pick<
  RunOptions,
  'model' | 'tools' | 'session' | 'prompt' | 'guard' | 'sinks' | 'budget' | 'failOnDenied' | 'signal'
> &
  Pick<
    Partial<RunOptions>,
    | 'hooks'
    | 'connections'
    | 'images'
    | 'firstCalls'
    | 'notices'
    | 'ignoredConfig'
    | 'resumedFrom'
    | 'output'
    | 'claims'
    | 'deliver'
    | 'report'
    | 'instructions'
    | 'context'
    | 'changes'
    | 'tally'
    | 'transaction'
    | 'verify'
    | 'serve'
    | 'failOnNoChange'
    | 'delegates'
    | 'began'
  >
