/** A run of differing lines: `a[aFrom..aTo)` became `b[bFrom..bTo)`. */
export type Difference = { readonly aFrom: number; readonly aTo: number; readonly bFrom: number; readonly bTo: number }

/** If a range of lines has more differences than this, the whole range counts as replaced, because an exact result would take quadratic time. */
const effort = 1500

/**
 * The differing runs of two sequences of lines, in order. Lines that are unique on both sides are aligned first; then the lines between them are compared with
 * Myers' algorithm.
 *
 * @internal
 */
export function diffLines(a: readonly string[], b: readonly string[]): readonly Difference[] {
  const found: Difference[] = []
  compare(a, b, { aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }, found)
  return found
}

function compare(a: readonly string[], b: readonly string[], whole: Difference, found: Difference[]): void {
  const range = shrink(a, b, whole)
  if (range.aFrom === range.aTo || range.bFrom === range.bTo) {
    if (range.aFrom < range.aTo || range.bFrom < range.bTo) found.push(range)
    return
  }
  const anchors = alignUnique(a, b, range)
  if (anchors.length === 0) {
    for (const difference of shortest(a, b, range)) found.push(difference)
    return
  }
  let { aFrom, bFrom } = range
  for (const [aLine, bLine] of anchors) {
    compare(a, b, { aFrom, aTo: aLine, bFrom, bTo: bLine }, found)
    aFrom = aLine + 1
    bFrom = bLine + 1
  }
  compare(a, b, { aFrom, aTo: range.aTo, bFrom, bTo: range.bTo }, found)
}

/** The given range without the lines that are equal at its start and at its end. */
function shrink(a: readonly string[], b: readonly string[], { aFrom, aTo, bFrom, bTo }: Difference): Difference {
  let [a0, a1, b0, b1] = [aFrom, aTo, bFrom, bTo]
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) {
    a0++
    b0++
  }
  while (a1 > a0 && b1 > b0 && a[a1 - 1] === b[b1 - 1]) {
    a1--
    b1--
  }
  return { aFrom: a0, aTo: a1, bFrom: b0, bTo: b1 }
}

/** Finds the longest sequence of lines that occur exactly once on each side and have the same order on both sides. */
function alignUnique(
  a: readonly string[],
  b: readonly string[],
  range: Difference,
): readonly (readonly [number, number])[] {
  const counts = new Map<string, { inA: number; inB: number; line: number }>()
  for (let line = range.aFrom; line < range.aTo; line++) {
    const count = counts.get(a[line] ?? '')
    if (count === undefined) counts.set(a[line] ?? '', { inA: 1, inB: 0, line })
    else count.inA++
  }
  for (let line = range.bFrom; line < range.bTo; line++) {
    const count = counts.get(b[line] ?? '')
    if (count !== undefined) count.inB++
  }
  const pairs: [number, number][] = []
  for (let line = range.bFrom; line < range.bTo; line++) {
    const count = counts.get(b[line] ?? '')
    if (count?.inA === 1 && count.inB === 1) pairs.push([count.line, line])
  }
  return longestAscending(pairs)
}

function longestAscending(pairs: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const tails: number[] = []
  const before: number[] = []
  for (const [index, [line]] of pairs.entries()) {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((pairs[tails[middle] ?? 0]?.[0] ?? 0) < line) low = middle + 1
      else high = middle
    }
    before[index] = low > 0 ? (tails[low - 1] ?? -1) : -1
    tails[low] = index
  }
  const result: (readonly [number, number])[] = []
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at]
    if (pair !== undefined) result.push(pair)
  }
  return result.reverse()
}

/**
 * The smallest set of differences in a range, found with Myers' greedy algorithm in its forward form; the range itself if there are too many differences. The
 * frontier of each round is kept, so that the path can be traced back.
 */
function shortest(a: readonly string[], b: readonly string[], range: Difference): readonly Difference[] {
  const [rows, columns] = [range.aTo - range.aFrom, range.bTo - range.bFrom]
  const limit = Math.min(rows + columns, effort)
  const frontiers: Int32Array[] = []
  let current = new Int32Array(3)
  for (let round = 0; round <= limit; round++) {
    const next = new Int32Array(2 * round + 3)
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      const down = round === 0 ? 0 : (current[diagonal + 1 + round - 1 + 1] ?? 0)
      const right = round === 0 ? 0 : (current[diagonal - 1 + round - 1 + 1] ?? 0) + 1
      let row = round === 0 ? 0 : diagonal === -round || (diagonal !== round && right <= down) ? down : right
      while (row < rows && row - diagonal < columns && a[range.aFrom + row] === b[range.bFrom + row - diagonal]) row++
      next[diagonal + round + 1] = row
      if (row >= rows && row - diagonal >= columns) return wayBack(frontiers, round, diagonal, range)
    }
    frontiers.push(next)
    current = next
  }
  return [range]
}

function wayBack(
  frontiers: readonly Int32Array[],
  rounds: number,
  end: number,
  range: Difference,
): readonly Difference[] {
  const edits: Difference[] = []
  let diagonal = end
  for (let round = rounds; round > 0; round--) {
    const before = frontiers[round - 1] ?? new Int32Array(0)
    const at = (wanted: number): number => before[wanted + round] ?? 0
    const isDown = diagonal === -round || (diagonal !== round && at(diagonal - 1) + 1 <= at(diagonal + 1))
    const row = isDown ? at(diagonal + 1) : at(diagonal - 1)
    diagonal = isDown ? diagonal + 1 : diagonal - 1
    const aFrom = range.aFrom + row
    const bFrom = range.bFrom + row - diagonal
    edits.push({ aFrom, aTo: isDown ? aFrom : aFrom + 1, bFrom, bTo: isDown ? bFrom + 1 : bFrom })
  }
  return joinAdjacent(edits.reverse())
}

function joinAdjacent(edits: readonly Difference[]): readonly Difference[] {
  const joined: Difference[] = []
  for (const edit of edits) {
    const last = joined.at(-1)
    if (last === undefined || last.aTo !== edit.aFrom || last.bTo !== edit.bFrom) joined.push(edit)
    else joined[joined.length - 1] = { ...last, aTo: edit.aTo, bTo: edit.bTo }
  }
  return joined
}
