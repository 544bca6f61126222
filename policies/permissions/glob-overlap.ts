import type { GlobPart } from './path-glob.ts'
import { anyFolders, anyText } from './path-glob.ts'

/** An element of a pattern for one name: a specific character, any one character, or any text. */
type Sign = string | typeof anyOne | typeof anyText

const anyOne = Symbol('?')
/** The maximum number of comparisons. If more would be needed, the patterns count as overlapping. */
const mostWork = 20_000

/**
 * Whether a shell's pattern can expand to a path that a permission matches, or to a path below that one. `parts` are the parts of the permission's
 * pattern, and `names` those of the shell's pattern, both below the permission's folder. Brackets count as any character or any text, which can only
 * add matches.
 */
export function mayOverlap(parts: readonly GlobPart[], names: readonly string[]): boolean {
  const signs = names.map(signsOf)
  // The positions in `parts` from which the remaining parts have to match the remaining names.
  let reached = new Set(skipFolders(parts, [0]))
  for (let at = 0; ; at++) {
    if ([...reached].some((part) => parts[part] === undefined)) return true
    const name = signs[at]
    if (name === undefined) return false
    const next: number[] = []
    for (const part of reached) {
      const wanted = parts[part]
      if (wanted === undefined) continue
      // At the end of the permission's pattern, `**` matches everything in the folder.
      if (wanted === anyFolders) next.push(part, ...(part === parts.length - 1 ? [part + 1] : []))
      else if (meet(typeof wanted === 'string' ? [...wanted] : wanted.map(signOf), name)) next.push(part + 1)
    }
    reached = new Set(skipFolders(parts, next))
  }
}

/** Adds the positions that are reached if `**` stands for no folder. At the end of a pattern, `**` must stand for something. */
function skipFolders(parts: readonly GlobPart[], from: readonly number[]): readonly number[] {
  return from.flatMap((part) => (parts[part] === anyFolders && part < parts.length - 1 ? [part, part + 1] : [part]))
}

function signOf(piece: unknown): Sign {
  return typeof piece === 'string' ? piece : piece === anyText ? anyText : anyOne
}

function signsOf(name: string): readonly Sign[] {
  const signs: Sign[] = []
  for (let at = 0; at < name.length; at++) {
    const character = name[at] ?? ''
    const close = character === '[' ? name.lastIndexOf(']') : -1
    // It is unclear where the bracket ends, because the text after it may close it or open another one. So everything up to the last `]` counts as any text.
    if (close > at) signs.push(anyText)
    else signs.push(character === '*' ? anyText : character === '?' ? anyOne : character)
    if (close > at) at = close
  }
  return signs
}

/** Whether there is a name that matches both sequences of pattern elements. Also true if the sequences are too long to check. */
function meet(one: readonly Sign[], other: readonly Sign[]): boolean {
  if (one.length * other.length > mostWork) return true
  // Each row records whether the first `a` elements of one sequence and the first `b` of the other can match the same name.
  let row = [true]
  for (let b = 1; b <= other.length; b++) row.push(row[b - 1] === true && other[b - 1] === anyText)
  for (const sign of one) {
    const next = [row[0] === true && sign === anyText]
    for (let b = 1; b <= other.length; b++) {
      const against = other[b - 1]
      const isText = sign === anyText || against === anyText
      const isSame = sign === anyOne || against === anyOne || sign === against
      next.push(isText ? row[b] === true || next[b - 1] === true || row[b - 1] === true : isSame && row[b - 1] === true)
    }
    row = next
  }
  return row[other.length] === true
}
