import type { Difference } from './diff-lines.ts'

/** Differences that are shown together, with their context. */
export type Group = Difference & { readonly differences: readonly Difference[] }

/** Groups differences whose lines of context would touch or overlap. */
export function groupDifferences(
  differences: readonly Difference[],
  context: number,
  aLength: number,
  bLength: number,
): readonly Group[] {
  const groups: Difference[][] = []
  for (const difference of differences) {
    const last = groups.at(-1)
    const before = last?.at(-1)
    if (last !== undefined && before !== undefined && difference.aFrom - before.aTo <= 2 * context)
      last.push(difference)
    else groups.push([difference])
  }
  return groups.flatMap((group): readonly Group[] => {
    const first = group[0]
    const last = group.at(-1)
    if (first === undefined || last === undefined) return []
    const before = Math.min(context, first.aFrom, first.bFrom)
    const after = Math.min(context, aLength - last.aTo, bLength - last.bTo)
    return [
      {
        aFrom: first.aFrom - before,
        aTo: last.aTo + after,
        bFrom: first.bFrom - before,
        bTo: last.bTo + after,
        differences: group,
      },
    ]
  })
}
