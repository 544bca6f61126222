import type { ChangeSet, SummaryLine } from '../change-set.ts'

/**
 * What `apply-patch` prints after applying a patch. As with Codex, it lists all added files, then all modified files, then all deleted files.
 *
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n')
 * console.log(renderSummary(await planPatch(patch, { root: '.' })))
 */
export function renderSummary(changeSet: Pick<ChangeSet, 'summary'>): string {
  const lines = (['A', 'M', 'D'] as const).flatMap((kind) => ofKind(changeSet.summary, kind))
  return ['Success. Updated the following files:', ...lines, ''].join('\n')
}

function ofKind(summary: readonly SummaryLine[], kind: SummaryLine['kind']): readonly string[] {
  return summary.filter((line) => line.kind === kind).map(({ path }) => `${kind} ${path.replaceAll('\n', '⏎')}`)
}
