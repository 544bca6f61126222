import type { ChangeSource } from '../core/changes/change-watch.ts'
import type { Patched } from '../core/changes/compose.ts'
import type { RunEvent } from '../core/events.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import type { Stop } from './stop.ts'

/**
 * The transaction of a run that works on a private view of the workspace. At the end of the run, either all changes are applied to the workspace, or
 * none of them.
 */
export type Transaction = {
  /** The transaction's description in the first event. */
  readonly facts: NonNullable<Extract<RunEvent, { type: 'thread.started' }>['config']['transaction']>
  /** Finds the changes that the run made in the view. `patched`: returns the files that the run's patches have changed so far. */
  readonly changes: (patched: () => Patched) => ChangeSource
  /** What the user would lose if the changes were applied now, one sentence each. Must be called when no command is running any more. */
  readonly losses: () => Promise<readonly string[]>
  /**
   * Applies the changes to the workspace if the user's choice (always, only after success, or never) permits it. Must be called when no command is
   * running any more.
   *
   * @param stop why the run ended early; undefined if it completed
   * @param signal if it is aborted before all changes are applied, none is, unless the user wants them even after an interruption
   * @returns `stop`: why the run failed, if the changes could not be applied; `report`: what happened to the changes
   */
  land(
    stop: Stop | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly stop?: Stop; readonly report?: TransactionReport }>
  /** Present if the changes also land while the run works. Both functions must be called when no command is running. */
  readonly between?: {
    /** Does what the method `land` does, with what has changed since the last landing. What doesn't land stays in the view. */
    readonly land: Transaction['land']
    /** Brings the view up to date with the workspace. Must be called after `land`, with nothing written to the view since. */
    readonly refresh: () => Promise<void>
  }
}
