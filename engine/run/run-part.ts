import type { RunOptions } from './run-options.ts'

/** What is a run's own, where it shares the rest with those that work for it. */
export type RunPart = Pick<
  RunOptions,
  'model' | 'tools' | 'session' | 'prompt' | 'guard' | 'sinks' | 'budget' | 'failOnDenied' | 'signal'
> &
  Pick<
    Partial<RunOptions>,
    | 'hooks'
    | 'images'
    | 'firstCalls'
    | 'notices'
    | 'ignoredConfig'
    | 'resumedFrom'
    | 'output'
    | 'deliver'
    | 'instructions'
    | 'context'
    | 'changes'
    | 'transaction'
    | 'verify'
    | 'serve'
    | 'failOnNoChange'
  >
