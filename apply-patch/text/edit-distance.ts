/** The fewest insertions, removals, replacements and swaps of adjacent letters that turn one text into the other, if no letter is edited twice. */
export function editDistance(one: string, other: string): number {
  let twoBack: number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      let best = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      const isSwap = row > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (isSwap) best = Math.min(best, (twoBack[column - 2] ?? 0) + 1)
      current.push(best)
    }
    twoBack = above
    above = current
  }
  return above[other.length] ?? 0
}
