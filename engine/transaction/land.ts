import { commit, CommitError, PathError, recover, renderFailure } from '../../apply-patch/index.ts'
import type { ChangeRecord, RunChange } from './change-record.ts'
import { planLanding, type Conflict } from './plan-landing.ts'
import { readViewState, writeViewState, type ViewState } from './private-view.ts'

/** The result of a landing. */
export type Landing =
  /** `files`: how many the transaction touched. */
  | {
      readonly type: 'landed'
      readonly files: number
      readonly merged: readonly string[]
      readonly canUndo: boolean
      readonly notes: readonly string[]
    }
  /** The trees are as the run left its view already. */
  | { readonly type: 'nothing'; readonly already: number }
  /** Nothing was landed. */
  | { readonly type: 'conflict'; readonly conflicts: readonly Conflict[] }
  | { readonly type: 'failed'; readonly message: string }

/**
 * Lands a session's changes in its trees, as one transaction of patches: all of them, or nothing.
 *
 * @param directory the session's own
 * @param chosen the changes to land. Default: all
 */
export async function land(
  directory: string,
  record: ChangeRecord,
  chosen: readonly RunChange[] = record.changes,
): Promise<Landing> {
  if (record.blocked.length > 0 && chosen === record.changes) return { type: 'conflict', conflicts: record.blocked }
  try {
    for (const root of new Set(chosen.map((change) => change.root))) await recover({ root })
    const { changeSet, merged, conflicts, already } = planLanding(chosen, directory)
    if (conflicts.length > 0) return { type: 'conflict', conflicts }
    if (changeSet.changes.length + (changeSet.directories ?? []).length === 0) return { type: 'nothing', already }
    const report = await commit(changeSet)
    noteLanding(directory, {
      id: report.id,
      root: report.root,
      at: new Date().toISOString(),
      can_undo: report.canUndo,
      undone: false,
    })
    const notes = report.warnings.map(({ message }) => message)
    return { type: 'landed', files: changeSet.changes.length, merged, canUndo: report.canUndo, notes }
  } catch (error) {
    if (error instanceof CommitError && error.code === 'changed' && error.tree === 'unchanged') {
      const differences = error.facts.differences ?? []
      const conflicts = differences.map(({ key }) => ({ path: key, why: 'somebody changed it at this moment' }))
      if (conflicts.length > 0) return { type: 'conflict', conflicts }
    }
    if (error instanceof CommitError || error instanceof PathError) {
      return { type: 'failed', message: renderFailure(error).trim() }
    }
    throw error
  }
}

/** Whether a view contains more than what landed: ignored files, and commits. Then it stays until somebody discards it. */
export function keepsMore({ ignored, repositories }: ChangeRecord, ignoredLanded = false): boolean {
  return (ignored.files > 0 && !ignoredLanded) || repositories.length > 0
}

function noteLanding(directory: string, landing: NonNullable<ViewState['landing']>): void {
  const known = readViewState(directory)
  if (known !== undefined) writeViewState(directory, { ...known, landing })
}

/** Marks the session's changes as landed, or as discarded: its view can't be continued. */
export function closeView(directory: string, state: 'landed' | 'discarded'): void {
  const known = readViewState(directory)
  if (known !== undefined) writeViewState(directory, { ...known, state })
}
