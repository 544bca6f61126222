import {
  commit,
  CommitError,
  PatchError,
  PathError,
  ReadError,
  renderFailure,
  unifiedDiff,
  type Report,
  type Change,
  type ChangeSet,
} from '../../apply-patch/index.ts'
import type { Action, Approved, PatchChange } from '../../policies/index.ts'
import {
  accessDenials,
  renderDenial,
  shownPath,
  shownText,
  type SandboxPolicy,
  type View,
} from '../../sandbox/index.ts'
import { remedyAsConfig } from '../core/remedies.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { denied, eventVerdict } from './denied-result.ts'
import type { ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

/** The maximum number of characters of a diff in one event. The limit keeps the event's line below 64 KiB even if every character is escaped. */
const eventDiffLimit = 8 * 1024

/** The maximum number of notes in one event, and of the characters of each. */
const [eventNotes, eventNoteLength] = [20, 500]

/** The outcome of a commit: the failed result of the call if nothing was changed, otherwise what deserves attention in what was done. */
type Committed = { readonly refused: ToolResult } | { readonly refused?: undefined; readonly notes: readonly string[] }

/** The maximum number of characters of a diff that a reviewer sees. */
const reviewedDiffLimit = 32 * 1024

/**
 * Commits planned file changes. The Guardian reviews them, they are checked against what a command in the sandbox could write (except for a note, see
 * `what`), and they are committed completely or not at all. An item in the event stream reports them.
 *
 * @param started when the call began, from `performance.now()`
 * @param repairs what was repaired in the patch, for the event
 * @param what `instructions` if the change adds a note to the instructions of later runs. Such a change is reviewed as a note, and an approval covers
 *   only the file with the note
 */
export async function commitChanges(
  changeSet: ChangeSet,
  context: ToolContext,
  started: number,
  { what = 'files', repairs = [] }: { what?: 'files' | 'instructions'; repairs?: readonly string[] } = {},
): Promise<Committed> {
  const { policy } = context.sandbox
  const { views } = policy
  const changes = changeSet.changes.map((change) => patchChange(change, views))
  const diff = shownText(unifiedDiff(changeSet), views)
  const item = context.startItem({
    type: 'file_change',
    changes: changes.map(({ path, kind }) => ({ path, kind })),
    status: 'in_progress',
    call_id: context.callId,
  })
  const elapsed = (): number => Math.round(performance.now() - started)
  // The review considers the workspace, not the directory that the paths were relative to, because the model chose that directory.
  const action = {
    type: 'patch' as const,
    root: context.workspace,
    sandbox: policy.mode,
    changes,
    ...(what === 'instructions' ? { instructs: true as const } : {}),
  }
  const { verdict, approved } = await context.review(action, {
    diff: truncateMiddle(diff, reviewedDiffLimit).text,
  })
  if (approved === undefined) {
    item.complete({ status: 'failed', error: verdict.reason, verdict: eventVerdict(verdict), duration_ms: elapsed() })
    return { refused: denied(verdict) }
  }
  const fail = (error: string): Committed => {
    item.complete({ status: 'failed', error, verdict: eventVerdict(verdict), duration_ms: elapsed() })
    return { refused: { ok: false, output: error } }
  }
  const forbidden = what === 'instructions' ? undefined : forbiddenWrite(changes, policy)
  if (forbidden !== undefined) return fail(forbidden)
  let report: Report
  try {
    report = await commitApproved(approved, changeSet, views, context.signal)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return fail(shownText(renderFailure(error), views))
  }
  for (const change of changeSet.changes) {
    if (change.type === 'write')
      context.state.seen.note(shownPath(change.place.key, views), Buffer.concat(change.content))
  }
  const notes = [...repairs, ...report.warnings.map(({ message }) => message)].map((note) => shownText(note, views))
  item.complete({
    status: 'completed',
    diff: truncateMiddle(diff, eventDiffLimit).text,
    ...(notes.length === 0 ? {} : { notes: shortened(notes) }),
    verdict: eventVerdict(verdict),
    duration_ms: elapsed(),
  })
  return { notes }
}

function shortened(notes: readonly string[]): readonly string[] {
  const shown = notes.slice(0, notes.length > eventNotes ? eventNotes - 1 : eventNotes)
  const more = notes.length - shown.length
  const texts = shown.map((note) => truncateMiddle(note, eventNoteLength).text)
  return more === 0 ? texts : [...texts, `${more} more notes, not listed here`]
}

/** Returns why the sandbox would not let a command make these changes. File tools must not make them either, or they would be a way around the sandbox. */
function forbiddenWrite(changes: readonly PatchChange[], policy: SandboxPolicy): string | undefined {
  const denialOf = accessDenials(policy)
  for (const { path, movedFrom } of changes) {
    for (const written of movedFrom === undefined ? [path] : [path, movedFrom]) {
      const denial = denialOf(written, 'write')
      if (denial !== undefined) return renderDenial(denial, remedyAsConfig)
    }
  }
  return undefined
}

/** Whether an error means that the changes can't be made. Any other error is an internal one. */
export function isRefusal(error: unknown): boolean {
  return [PatchError, PathError, ReadError, CommitError].some((kind) => error instanceof kind)
}

/** Commits a change set after comparing its changes with those of the approved action. */
async function commitApproved(
  approved: Approved<Extract<Action, { type: 'patch' }>>,
  changeSet: ChangeSet,
  views: readonly View[],
  signal: AbortSignal,
): Promise<Report> {
  const changes = changeSet.changes.map((change) => patchChange(change, views))
  const same = JSON.stringify(changes) === JSON.stringify(approved.changes)
  if (!same) throw new TypeError('the change set is not the one that was approved')
  return commit(changeSet, { signal })
}

/** Converts a planned change to the Guardian's format, with paths as commands see them. */
function patchChange(change: Change, views: readonly View[]): PatchChange {
  const path = shownPath(change.place.key, views)
  if (change.type === 'remove') return { path, kind: 'delete' }
  const kind = change.before.type === 'absent' ? 'add' : 'update'
  return change.movedFrom === undefined
    ? { path, kind }
    : { path, kind, movedFrom: shownPath(change.movedFrom.key, views) }
}
