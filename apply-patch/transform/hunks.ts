import { diffLines } from './diff-lines.ts'
import { groupDifferences, type Group } from './group-differences.ts'
import { isBinary, renderGroup, splitLines } from './unified-diff.ts'

/** A group of differences between two texts. The differences in a group are shown and selected together. */
type Hunk = {
  /** The differences in the form of a unified diff, with its `@@` line. */
  readonly text: string
}

type Split = {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly groups: readonly Group[]
}

/**
 * The hunks of a unified diff of two texts, in order.
 *
 * @returns undefined if one of the texts is binary
 * @internal
 */
export function hunksOf(before: Buffer, after: Buffer): readonly Hunk[] | undefined {
  const split = splitUp(before, after)
  return split?.groups.map((group) => ({ text: renderGroup(group, split.before, split.after) }))
}

/**
 * Applies the chosen hunks to the old text, and returns the result.
 *
 * @param chosen the indices of these hunks in the list that `hunksOf` returns
 * @throws TypeError for binary content, which has no hunks
 * @internal
 */
export function withHunks(before: Buffer, after: Buffer, chosen: ReadonlySet<number>): Buffer {
  const split = splitUp(before, after)
  if (split === undefined) throw new TypeError('binary content has no hunks')
  const lines: string[] = []
  let at = 0
  for (const [index, { differences }] of split.groups.entries()) {
    if (!chosen.has(index)) continue
    for (const { aFrom, aTo, bFrom, bTo } of differences) {
      lines.push(...split.before.slice(at, aFrom), ...split.after.slice(bFrom, bTo))
      at = aTo
    }
  }
  lines.push(...split.before.slice(at))
  // If the last line of a selected hunk has no line ending, old lines that weren't selected may follow it. In that case, it gets a newline.
  return Buffer.from(lines.map((line, index) => endedUnlessLast(line, index === lines.length - 1)).join(''))
}

function endedUnlessLast(line: string, isLast: boolean): string {
  return isLast || line.endsWith('\n') ? line : `${line}\n`
}

function splitUp(before: Buffer, after: Buffer): Split | undefined {
  if (isBinary(before) || isBinary(after)) return undefined
  const [a, b] = [splitLines(before), splitLines(after)]
  return { before: a, after: b, groups: groupDifferences(diffLines(a, b), 3, a.length, b.length) }
}
