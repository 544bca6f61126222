import { isUtf8 } from 'node:buffer'
import { diffLines, type Difference } from './diff-lines.ts'

/** A change that one side made to lines of the base. */
type Edit = Difference & { readonly lines: readonly string[] }

/**
 * Merges two changed versions of a text: the result contains the changes of both.
 *
 * @returns undefined if the versions change the same or adjacent lines in different ways, or if a text is binary and both versions have changed it in
 *   different ways
 *
 * @internal
 */
export function mergeText(base: Buffer, one: Buffer, other: Buffer): Buffer | undefined {
  if (one.equals(other) || other.equals(base)) return one
  if (one.equals(base)) return other
  if ([base, one, other].some((bytes) => bytes.includes(0) || !isUtf8(bytes))) return undefined
  const lines = linesOf(base)
  const [ours, theirs] = [editsOf(lines, linesOf(one)), editsOf(lines, linesOf(other))]
  const merged: string[] = []
  let [at, mine, yours] = [0, 0, 0]
  for (;;) {
    const [first, second] = [ours[mine], theirs[yours]]
    if (first === undefined && second === undefined) break
    if (first !== undefined && second !== undefined && touches(first, second)) {
      if (!isSame(first, second)) return undefined
      mine += 1
      yours += 1
      at = take(first, at, lines, merged)
    } else if (second === undefined || (first !== undefined && first.aFrom < second.aFrom)) {
      mine += 1
      // `first` is always defined here, because the loop ends if both edits are undefined.
      if (first !== undefined) at = take(first, at, lines, merged)
    } else {
      yours += 1
      at = take(second, at, lines, merged)
    }
  }
  return Buffer.from([...merged, ...lines.slice(at)].join(''))
}

function take(edit: Edit, from: number, lines: readonly string[], merged: string[]): number {
  for (const line of lines.slice(from, edit.aFrom)) merged.push(line)
  for (const line of edit.lines) merged.push(line)
  return edit.aTo
}

/** Whether two edits share a line or are adjacent. Such edits can't be merged, unless they are the same, because their order is undefined. */
function touches(one: Difference, other: Difference): boolean {
  return one.aFrom <= other.aTo && other.aFrom <= one.aTo
}

function isSame(one: Edit, other: Edit): boolean {
  return one.aFrom === other.aFrom && one.aTo === other.aTo && one.lines.join('') === other.lines.join('')
}

function editsOf(base: readonly string[], changed: readonly string[]): readonly Edit[] {
  return diffLines(base, changed).map((each) => ({ ...each, lines: changed.slice(each.bFrom, each.bTo) }))
}

function linesOf(bytes: Buffer): readonly string[] {
  const lines = bytes.toString().split(/(?<=\n)/)
  return lines[0] === '' ? [] : lines
}
