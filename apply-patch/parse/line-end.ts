const LF = 10

/** The offset after the LF that ends the line at `position`; `to` if the line has no LF before `to`. */
export function lineEnd(bytes: Buffer, position: number, to: number): number {
  const found = bytes.indexOf(LF, position)
  return found === -1 || found >= to ? to : found + 1
}

/** The offset of the last line between two offsets, which may lack its LF. */
export function lastLineStart(bytes: Buffer, from: number, to: number): number {
  const end = bytes[to - 1] === LF ? to - 1 : to
  return Math.max(from, end > 0 ? bytes.lastIndexOf(LF, end - 1) + 1 : 0)
}
