import * as z from 'zod'
import {
  commit,
  CommitError,
  parsePatch,
  patchGrammar,
  PatchError,
  PathError,
  planPatch,
  ReadError,
  renderFailure,
  renderSummary,
  unifiedDiff,
  type Change,
  type ChangeSet,
} from '../../apply-patch/index.ts'
import type { Action, Approved, PatchChange } from '../../policies/index.ts'
import type { FileChangeItem } from '../events.ts'
import { truncateMiddle } from '../text/truncate.ts'
import { defineTool } from './define-tool.ts'
import { denied, eventVerdict } from './denied.ts'
import type { Tool, ToolContext, ToolResult } from './tool.ts'

/** Of one patch's diff in one event; the event's line stays below 64 KiB even when every character is escaped. */
const eventDiffLimit = 8 * 1024

/** Of one patch's diff for a reviewer. */
const reviewedDiffLimit = 32 * 1024

const usage =
  'Changes files: adds, updates, moves and deletes, several files in one patch, all of it or nothing. ' +
  'The patch begins with "*** Begin Patch" and ends with "*** End Patch".'

/** The patch tool: freeform text under a grammar where the provider can do that, else `{"input": "…"}`. */
export const applyPatch: Tool = defineTool({
  name: 'apply_patch',
  description: usage,
  ownItems: true,
  input: z.object({ input: z.string().describe('The whole patch, from "*** Begin Patch" to "*** End Patch".') }),
  freeform: {
    description: `${usage} This is a freeform tool: send the patch itself, not JSON.`,
    grammar: patchGrammar,
    fromText: (text) => ({ input: text }),
  },
  run: ({ input }, context) => applyPatchText(input, context.workspace, context),
})

/**
 * Takes a patch through the one path: planned in memory, judged by the Guardian as the changes it would make, committed
 * all or nothing.
 *
 * @param root the directory its paths are relative to and must not leave
 */
export async function applyPatchText(text: string, root: string, context: ToolContext): Promise<ToolResult> {
  const started = performance.now()
  const open = (changes: FileChangeItem['changes']): ReturnType<ToolContext['startItem']> =>
    context.startItem({ type: 'file_change', changes, status: 'in_progress', call_id: context.callId })
  const elapsed = (): number => Math.round(performance.now() - started)

  const plan = await planText(text, root, context.signal)
  if (!plan.ok) {
    open([]).complete({ status: 'failed', error: plan.error, duration_ms: elapsed() })
    return { ok: false, output: plan.error }
  }

  const changes = plan.changeSet.changes.map(patchChange)
  const item = open(changes.map(({ path, kind }) => ({ path, kind })))
  // Judged against the workspace, not against the directory its paths were relative to: that one the model chose.
  const action = { type: 'patch' as const, root: context.workspace, sandbox: context.sandbox.policy.mode, changes }
  const { verdict, approved } = await context.guardian.review(action, {
    signal: context.signal,
    subject: context.callId,
    diff: truncateMiddle(unifiedDiff(plan.changeSet), reviewedDiffLimit).text,
  })
  if (approved === undefined) {
    item.complete({ status: 'failed', error: verdict.reason, verdict: eventVerdict(verdict), duration_ms: elapsed() })
    return denied(verdict)
  }

  try {
    await commitApproved(approved, plan.changeSet, context.signal)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const failure = renderFailure(error)
    item.complete({ status: 'failed', error: failure, verdict: eventVerdict(verdict), duration_ms: elapsed() })
    return { ok: false, output: failure }
  }
  item.complete({
    status: 'completed',
    diff: truncateMiddle(unifiedDiff(plan.changeSet), eventDiffLimit).text,
    verdict: eventVerdict(verdict),
    duration_ms: elapsed(),
  })
  const notes = [...plan.repairs, ...plan.changeSet.warnings.map(({ message }) => message)]
  const noted = notes.map((note) => `Note: ${note}\n`).join('')
  return { ok: true, output: `${renderSummary(plan.changeSet)}${noted}` }
}

type Plan =
  | { readonly ok: true; readonly changeSet: ChangeSet; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly error: string }

async function planText(text: string, root: string, signal: AbortSignal): Promise<Plan> {
  try {
    const { patch, repairs } = parsePatch(text, { mode: 'lenient' })
    const changeSet = await planPatch(patch, { root, mode: 'lenient', signal })
    return { ok: true, changeSet, repairs: repairs.map(({ message }) => message) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { ok: false, error: renderFailure(error) }
  }
}

/** Whether an error says that a patch can't be applied; anything else is a fault of ours. */
function isRefusal(error: unknown): boolean {
  return [PatchError, PathError, ReadError, CommitError].some((kind) => error instanceof kind)
}

/** Commits a change set, but only the one that was approved: its changes are compared with the approved action's. */
async function commitApproved(
  approved: Approved<Extract<Action, { type: 'patch' }>>,
  changeSet: ChangeSet,
  signal: AbortSignal,
): Promise<void> {
  const same = JSON.stringify(changeSet.changes.map(patchChange)) === JSON.stringify(approved.changes)
  if (!same) throw new TypeError('the change set is not the one that was approved')
  await commit(changeSet, { signal })
}

/** A planned change in the Guardian's words. */
function patchChange(change: Change): PatchChange {
  if (change.type === 'remove') return { path: change.place.key, kind: 'delete' }
  const kind = change.before.type === 'absent' ? 'add' : 'update'
  const { key: path } = change.place
  return change.movedFrom === undefined ? { path, kind } : { path, kind, movedFrom: change.movedFrom.key }
}
