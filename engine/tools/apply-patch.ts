import { resolve } from 'node:path'
import * as z from 'zod'
import {
  parsePatch,
  patchGrammar,
  planPatch,
  renderFailure,
  renderSummary,
  type ChangeSet,
} from '../../apply-patch/index.ts'
import { accessDenial, renderDenial } from '../../sandbox/index.ts'
import { remedyAsConfig } from '../remedies.ts'
import { commitChanges, isRefusal } from './commit-changes.ts'
import { defineTool } from './define-tool.ts'
import type { Tool, ToolContext, ToolResult } from './tool.ts'

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
  const plan = await planText(text, root, context)
  if (!plan.ok) {
    const item = context.startItem({
      type: 'file_change',
      changes: [],
      status: 'in_progress',
      call_id: context.callId,
    })
    item.complete({ status: 'failed', error: plan.error, duration_ms: Math.round(performance.now() - started) })
    return { ok: false, output: plan.error }
  }
  const refused = await commitChanges(plan.changeSet, context, started)
  if (refused !== undefined) return refused
  const notes = [...plan.repairs, ...plan.changeSet.warnings.map(({ message }) => message)]
  const noted = notes.map((note) => `Note: ${note}\n`).join('')
  return { ok: true, output: `${renderSummary(plan.changeSet)}${noted}` }
}

type Plan =
  | { readonly ok: true; readonly changeSet: ChangeSet; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly error: string }

async function planText(text: string, root: string, { sandbox, signal }: ToolContext): Promise<Plan> {
  try {
    const { patch, repairs } = parsePatch(text, { mode: 'lenient' })
    for (const { path } of patch.operations) {
      // What doesn't match is shown, so what a command must not read is not looked at.
      const denial = accessDenial(sandbox.policy, resolve(root, path), 'read')
      if (denial !== undefined) return { ok: false, error: renderDenial(denial, remedyAsConfig) }
    }
    const changeSet = await planPatch(patch, { root, mode: 'lenient', signal })
    return { ok: true, changeSet, repairs: repairs.map(({ message }) => message) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { ok: false, error: renderFailure(error) }
  }
}
