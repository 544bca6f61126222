import type { Denial } from '../sandbox.ts'

/**
 * The maximum number of denials of one kind to report. A command can cause thousands of denials, but reporting more than this would tell the user
 * nothing new.
 */
const mostOfOneKind = 20

/**
 * Limits the denials that are reported when a command ends. Of each kind, it keeps the first 20 and adds one that says how many more there were.
 *
 * @param denials in the order in which they were found
 */
export function capDenials(denials: readonly Denial[]): readonly Denial[] {
  const counts = new Map<Denial['kind'], number>()
  const kept = denials.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count <= mostOfOneKind
  })
  const rest = [...counts].filter(([, count]) => count > mostOfOneKind)
  if (rest.length === 0) return denials
  return [...kept, ...rest.map(([kind, count]) => others(denials, kind, count - mostOfOneKind))]
}

function others(denials: readonly Denial[], kind: Denial['kind'], count: number): Denial {
  const left = denials.filter((denial) => denial.kind === kind).slice(mostOfOneKind)
  return {
    kind,
    subject: `and ${count} more`,
    rule: [...new Set(left.map(({ rule }) => rule))].slice(0, 3).join('; '),
    certainty: left.every(({ certainty }) => certainty === 'proven') ? 'proven' : 'suspected',
    remedy: {
      kind: 'otherwise',
      advice: 'look at the denials that are listed first',
    },
  }
}
