import { basename } from 'node:path'
import type { TransactionReport } from '../core/run-summary.ts'
import { notIgnored, patchFile, type ChangeRecord } from '../transaction/change-record.ts'
import { unlandedRepositories, type CommitsReport } from '../transaction/land-commits.ts'
import type { Landing } from '../transaction/land.ts'
import type { PrivateView } from '../transaction/stored-view.ts'
import { stagedIn } from '../transaction/view-state.ts'

/** Why a landing failed, and where the changes are now; undefined if it did not fail. */
export function failureOf(landing: Landing | undefined, view: PrivateView): string | undefined {
  const patch = patchFile(view.directory)
  const kept = keptIn(view)
  if (landing?.type === 'failed') {
    const state = landing.tree === 'unchanged' ? kept : `The patch is in ${patch}`
    return `The run's changes could not be landed. ${landing.message} ${state}`
  }
  if (landing?.type !== 'conflict') return undefined
  const [first, ...others] = landing.conflicts
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `Nothing was landed: ${first?.path ?? ''}: ${first?.why ?? ''}${more}. ${kept}`
}

/** Where the changes are that have not landed. */
export function keptIn(view: PrivateView): string {
  return `The tree is unchanged, and the patch is in ${patchFile(view.directory)}`
}

/** The maximum number of entries in a list of the report. Longer lists are truncated. */
const mostNamed = 200

/** The report about a transaction, but for its effects outside it. */
export function reportOf(
  view: PrivateView,
  landIgnored: boolean,
  record: ChangeRecord,
  landing: Landing | undefined,
  commits: CommitsReport | undefined,
): Omit<TransactionReport, 'outside'> {
  const { landed = [], refs = [], kept = [], failed = [], complete = [], made = [], indexes = [] } = commits ?? {}
  const staged = stagedIn(indexes)
  const imported = [...complete, ...refs.map(({ path }) => path)]
  const id = basename(view.directory)
  const unlanded = failed.map(({ path }) => path)
  const conflicts = landing?.type === 'conflict' ? landing.conflicts : []
  const notes = landing?.type === 'landed' ? landing.notes : []
  return {
    strategy: view.state.strategy,
    outcome: landing === undefined || landing.type === 'interrupted' ? 'kept' : landing.type,
    ...(landing?.type === 'failed' && landing.tree !== 'unchanged' ? { tree: landing.tree } : {}),
    files: notIgnored(record).length,
    merged: landing?.type === 'landed' ? landing.merged.slice(0, mostNamed) : [],
    commits: landed.map((each) => ({ ...each })),
    ...(staged === 0 ? {} : { staged }),
    ...(made.length === 0 ? {} : { new_repositories: made.map(({ path }) => path) }),
    ...(refs.length === 0 ? {} : { refs: refs.slice(0, mostNamed).map((each) => ({ ...each })) }),
    ...(kept.length === 0 ? {} : { refs_not_landed: kept.slice(0, mostNamed).map((each) => ({ ...each })) }),
    repositories: unlandedRepositories({ commits: landed, imported, unlanded }, record)
      .slice(0, mostNamed)
      .map(({ path, kept: place, refs: changed, made: remade }) => ({
        path,
        kept: place,
        ...(remade && { is_new: true as const }),
        ...(changed && { refs: changed.slice(0, mostNamed).map(({ name }) => name) }),
        ...(failed.find((each) => each.path === path) ?? {}),
      })),
    conflicts: conflicts.slice(0, mostNamed).map(({ path, why }) => ({ path, why })),
    ignored: { ...record.ignored, landed: landIgnored && landing?.type === 'landed' },
    not_landed: [...record.protected, ...record.special].slice(0, mostNamed),
    ...(record.blocked.length === 0 ? {} : { left_out: record.blocked.slice(0, mostNamed) }),
    can_undo:
      (landing?.type === 'landed' && landing.canUndo) ||
      (landing?.type === 'nothing' && landed.length + refs.length + staged + made.length > 0),
    ...(notes.length === 0 ? {} : { notes: notes.slice(0, mostNamed) }),
    run: id,
    patch: patchFile(view.directory),
  }
}
