import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { TransactionReport } from '../core/run-summary.ts'
import { notIgnored, writeRecord, type ChangeRecord, type RunChange } from '../transaction/change-record.ts'
import type { Landing } from '../transaction/land.ts'
import { openGitRefresh } from '../transaction/refresh-git.ts'
import { refreshView } from '../transaction/refresh-view.ts'
import type { PrivateView } from '../transaction/stored-view.ts'

/** What a run keeps in mind whose changes land several times. */
type EachLanding = {
  /** The view, with manifests that are brought up to date together with it. */
  readonly view: PrivateView
  /** Must be called before the changes are recorded for another landing. */
  readonly begin: () => void
  /** Notes a landing. `landing` is undefined if nothing was to land. */
  readonly note: (record: ChangeRecord, landing: Landing | undefined, report: TransactionReport) => Promise<void>
  /**
   * Brings the view up to date with the workspace: with what somebody has changed there, and with what has landed. It does so only if the last landing is noted:
   * otherwise it isn't known what in the view has not landed.
   */
  readonly refresh: () => Promise<void>
  /** The record of a run with everything that has landed before. */
  readonly together: (record: ChangeRecord) => ChangeRecord
  /** The record without changes of what the run itself has landed: nobody loses anything by them. */
  readonly toOthers: (record: ChangeRecord) => ChangeRecord
  /** Stores the record of everything that landed, and returns the report about it. */
  readonly end: (record: ChangeRecord, report: TransactionReport) => TransactionReport
}

/** Whether a landing has taken place, even if there was nothing to land. */
export function isLanded(landing: Landing | undefined): landing is Extract<Landing, { type: 'landed' | 'nothing' }> {
  return landing?.type === 'landed' || landing?.type === 'nothing'
}

/** Begins a series of landings from a copied view. */
export function openEachLanding(view: PrivateView): EachLanding {
  const manifests = view.manifests().map((each) => new Map(each))
  const ours = { ...view, manifests: () => manifests }
  const git = openGitRefresh(ours)
  const reports: TransactionReport[] = []
  let landed: RunChange[] = []
  let staying: readonly string[] | undefined
  const together = (record: ChangeRecord): ChangeRecord => ({ ...record, changes: composed(landed, record.changes) })
  return {
    view: ours,
    begin: () => {
      staying = undefined
    },
    note: async (record, landing, report) => {
      const apart = [...record.protected, ...record.special, ...record.blocked.map(({ path }) => path)]
      const isIn = isLanded(landing)
      if (isIn) {
        reports.push(report)
        landed = composed(landed, record.changes)
        // The next record starts from what has landed. Until then, there is nothing that could land again.
        if (record.changes.length > 0) writeRecord(view.directory, { ...record, changes: [], view: undefined })
      }
      await git.refresh()
      if (isIn) git.note()
      staying = isIn ? apart : [...apart, ...record.changes.map(({ root, path }) => join(root, path))]
      // From now on, what has landed counts as the state from which further changes start.
      await refreshView(ours, manifests, staying)
    },
    refresh: async () => {
      if (staying === undefined) return
      await git.refresh()
      await refreshView(ours, manifests, staying)
    },
    together,
    toOthers: (record) => {
      const own = new Map(landed.map((each) => [join(each.root, each.path), each.after]))
      const isOwn = ({ root, path, before }: RunChange): boolean => isDeepStrictEqual(own.get(join(root, path)), before)
      return { ...record, changes: record.changes.filter((each) => !isOwn(each)) }
    },
    end: (record, report) => {
      if (reports.every(({ outcome }) => outcome === 'nothing')) return report
      const isIn = report.outcome === 'landed' || report.outcome === 'nothing'
      const whole = isIn ? together(record) : { ...record, changes: landed }
      if (isIn) writeRecord(view.directory, whole)
      const all = [...reports, report]
      return {
        ...report,
        outcome: report.outcome === 'nothing' ? 'landed' : report.outcome,
        files: notIgnored(whole).length,
        merged: [...new Set(all.flatMap(({ merged }) => merged))],
        commits: all.flatMap(({ commits }) => commits),
        can_undo: all.some(({ can_undo: canUndo }) => canUndo),
      }
    },
  }
}

/** Changes of which some were made on top of others. */
function composed(earlier: readonly RunChange[], later: readonly RunChange[]): RunChange[] {
  const known = new Map(earlier.map((each) => [join(each.root, each.path), each]))
  for (const change of later) {
    const at = join(change.root, change.path)
    const before = known.get(at)?.before ?? change.before
    if (isDeepStrictEqual(before, change.after)) known.delete(at)
    else known.set(at, { ...change, before })
  }
  return [...known.values()]
}
