import { isAbsolute, normalize, resolve } from 'node:path'
import * as z from 'zod'
import {
  parsePatch,
  patchGrammar,
  PatchError,
  PathError,
  planPatch,
  renderFailure,
  renderSummary,
  withoutDiffPrefixes,
  type ChangeSet,
  type Patch,
} from '../../apply-patch/index.ts'
import { accessDenial, renderDenial, shownPath, shownText, sourcePath, type View } from '../../sandbox/index.ts'
import type { EventVerdict } from '../core/events.ts'
import { remedyAsConfig } from '../core/remedies.ts'
import { commitChanges, isRefusal } from './commit-changes.ts'
import { defineTool } from './define-tool.ts'
import { eventVerdict } from './denied-result.ts'
import type { Tool, ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'
import { readCurrent } from './write-text.ts'

const usage =
  'Applies a patch that adds, updates, moves or deletes files. One patch may change several files; it is applied as a whole or not at all.'

/** The patch tool. Its input is plain text that follows a grammar if the provider supports that, and `{"input": "…"}` otherwise. */
export const applyPatch: Tool = defineTool({
  name: 'apply_patch',
  claudeNames: ['Edit', 'Write', 'MultiEdit'],
  guarded: true,
  description: `${usage} Pass the whole patch in the input parameter, as one string with its line feeds.`,
  ownItems: true,
  input: z.object({ input: z.string().describe('The whole patch, from "*** Begin Patch" to "*** End Patch".') }),
  freeform: {
    description: `${usage} Send the patch itself, as plain text and not as JSON, from "*** Begin Patch" to "*** End Patch".`,
    grammar: patchGrammar,
    fromText: (text) => ({ input: text }),
  },
  run: ({ input }, context) => applyPatchText(input, context.workspace, context),
})

/**
 * Applies a patch in the same way as all file tools change files: the changes are planned in memory, the Guardian reviews them, and they are committed
 * completely or not at all.
 *
 * @param root the directory that the patch's paths are relative to. They must stay inside it or inside other directories that a command may write to
 */
export async function applyPatchText(text: string, root: string, context: ToolContext): Promise<ToolResult> {
  const started = performance.now()
  const plan = await planText(text, root, context)
  if (!plan.ok) {
    const item = context.startItem({
      type: 'file_change',
      changes: [],
      status: 'in_progress',
      call_id: context.callId,
    })
    const verdict = plan.refused?.refused ?? (await recordRefusal(plan, context))
    const duration_ms = Math.round(performance.now() - started)
    item.complete({ status: 'failed', error: plan.error, duration_ms, ...(verdict === undefined ? {} : { verdict }) })
    return plan.refused ?? { ok: false, output: plan.error }
  }
  const done = await commitChanges(plan.changeSet, context, started, { repairs: plan.repairs })
  if (done.refused !== undefined) return done.refused
  const noted = done.notes.map((note) => `Note: ${note}\n`).join('')
  return { ok: true, output: shownText(`${renderSummary(plan.changeSet)}${noted}`, context.sandbox.policy.views) }
}

type Plan =
  | { readonly ok: true; readonly changeSet: ChangeSet; readonly repairs: readonly string[] }
  /**
   * `outside`: the paths that the patch must not touch, if it failed because of them; otherwise empty. `refused`: the result for the call if the
   * Guardian didn't let a file be read.
   */
  | { readonly ok: false; readonly error: string; readonly outside: readonly string[]; readonly refused?: ToolResult }

/**
 * Records the refusal of a patch that touches unreadable or protected paths, or paths outside the workspace, like any other refusal. It has to be
 * recorded here, because the patch fails before its changes can be reviewed.
 */
async function recordRefusal(
  { error, outside }: Extract<Plan, { ok: false }>,
  { workspace, sandbox, review }: ToolContext,
): Promise<EventVerdict | undefined> {
  if (outside.length === 0) return undefined
  const changes = outside.map((path) => ({ path, kind: 'update' as const }))
  const action = { type: 'patch' as const, root: workspace, sandbox: sandbox.policy.mode, changes }
  return eventVerdict((await review(action, { refuse: error })).verdict)
}

async function planText(text: string, root: string, context: ToolContext): Promise<Plan> {
  const { sandbox, workspace, signal } = context
  const { views } = sandbox.policy
  try {
    const { patch: written, repairs } = parsePatch(text, { mode: 'lenient' })
    // The paths that are checked must be those that are read.
    const { patch, warnings } = withoutDiffPrefixes(written, sourcePath(root, views))
    for (const { path } of patch.operations) {
      // If a patch doesn't match a file, the error message quotes lines of that file. Therefore files that a command must not read are not opened.
      const denial = accessDenial(sandbox.policy, resolve(root, path), 'read')
      if (denial !== undefined) {
        return { ok: false, error: renderDenial(denial, remedyAsConfig), outside: [resolve(root, path)] }
      }
    }
    const unread = await reviewSources(patch, root, context)
    if (unread !== undefined) return { ok: false, error: unread.output, outside: [], refused: unread }
    const beside = [workspace, ...sandbox.policy.writableRoots].filter((other) => other !== root)
    const there = { root: sourcePath(root, views), beside: beside.map((each) => sourcePath(each, views)) }
    const changeSet = await planPatch(atSources(patch, views), {
      ...there,
      mode: 'lenient',
      ambiguous: 'refuse',
      literalPaths: true,
      signal,
    })
    return { ok: true, changeSet, repairs: [...repairs, ...warnings].map(({ message }) => message) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    const outside = outsideOf(error, root).map((path) => shownPath(path, views))
    return { ok: false, error: shownText(renderFailure(error), views), outside }
  }
}

/** Has the Guardian review whether the files that a patch updates or moves may be read. Returns the result for the call if one of them may not. */
async function reviewSources(patch: Patch, root: string, context: ToolContext): Promise<ToolResult | undefined> {
  for (const operation of patch.operations) {
    const path = resolve(root, operation.path)
    if (operation.type !== 'update' || context.guardian.assess({ type: 'read', path }).decision === 'allow') continue
    const current = await readCurrent(path, context)
    if (current.state === 'refused' && current.result.refused !== undefined) return current.result
  }
  return undefined
}

/** Replaces the absolute paths in a patch with the paths of the same files in the run's private view. */
function atSources(patch: Patch, views: readonly View[]): Patch {
  if (views.length === 0) return patch
  const at = (path: string): string => (isAbsolute(path) ? sourcePath(normalize(path), views) : path)
  const operations = patch.operations.map((operation) => {
    const path = at(operation.path)
    return operation.type === 'update' && operation.moveTo !== undefined
      ? { ...operation, path, moveTo: at(operation.moveTo) }
      : { ...operation, path }
  })
  return { ...patch, operations }
}

/** Returns the absolute paths that a patch must not touch, if it failed because of them; otherwise none. */
function outsideOf(error: unknown, root: string): readonly string[] {
  if (error instanceof PathError) return isConfinement(error.code) ? [resolve(root, error.path)] : []
  if (!(error instanceof PatchError)) return []
  return error.failures.flatMap((failure) =>
    'absolute' in failure && 'reason' in failure && isConfinement(failure.reason) ? [failure.absolute] : [],
  )
}

function isConfinement(reason: string): boolean {
  return reason === 'outside-root' || reason === 'protected'
}
