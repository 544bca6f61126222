import { scanBodies } from './heredocs.ts'
import type { Source } from './source.ts'
import { fail } from './token.ts'

/** Skips spaces, tabs and backslash-escaped line breaks between words. */
export function skipBlanks(source: Source): void {
  for (;;) {
    if (/[ \t]/.test(source.peek())) source.at++
    else if (source.starts('\\\n')) {
      const before = source.text[source.at - 1] ?? ' '
      if (!/[\s]/.test(before) && !(/[;&|()]/.test(before) && /[ \t]/.test(source.peek(2))))
        fail('a line is continued without a space before the backslash')
      source.at += 2
    } else return
  }
}

/** Reads a newline, and the bodies of heredocs that begin after it. */
export function scanNewline(source: Source): void {
  if (source.pending.length > 0) scanBodies(source)
  else source.at++
}

/** Reads a comment up to the end of its line. */
export function scanComment(source: Source): void {
  const pos = source.at
  const newline = source.text.indexOf('\n', pos)
  source.at = newline < 0 || newline > source.end ? source.end : newline
  source.token('comment', pos)
}
