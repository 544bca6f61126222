import type { ChangeSet, Warning } from './change-set.ts'
import { commitChangeSet, type CommitOptions, type Report } from './files/index.ts'
import { parsePatch } from './parse/parse-patch.ts'
import type { Repair } from './patch.ts'
import { planAgain, planPatch, type PlanOptions } from './plan/plan-patch.ts'

/**
 * Applies a patch to a tree completely, or not at all: `parsePatch`, `planPatch` and `commit` in one call.
 *
 * @param text the patch, from `*** Begin Patch` on
 * @returns a report of the changes; its warnings include repairs of the patch
 * @throws PatchError if the patch is malformed or doesn't fit the tree; the error lists every failure in every file
 * @throws CommitError if the changes could not be made; its `tree` says whether the tree is unchanged
 * @throws PathError if the root isn't a directory, or can't be accessed
 * @example const { summary } = await applyPatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n', { root: '.' })
 */
export async function applyPatch(text: string | Uint8Array, options: PlanOptions & CommitOptions): Promise<Report> {
  let repairs: readonly Repair[] = []
  // A commit needs only the plan, so the parsed patch isn't kept.
  const planText = (plan: typeof planPatch): Promise<ChangeSet> => {
    const parsed = parsePatch(text, options.mode === undefined ? {} : { mode: options.mode })
    repairs = parsed.repairs
    return plan(parsed.patch, options)
  }
  const changeSet = await planText(planPatch)
  const report = await commitChangeSet(changeSet, { ...options, planAgain: () => planText(planAgain) })
  const repaired = repairs.map(({ message }): Warning => ({ code: 'repaired', message }))
  return { ...report, warnings: [...repaired, ...report.warnings] }
}
