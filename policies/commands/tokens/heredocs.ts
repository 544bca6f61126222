import type { Source } from './source.ts'
import { fail } from './token.ts'
import { scanQuoted } from './scan-words.ts'

/**
 * Scans the delimiter of a heredoc, and records the heredoc. The delimiter may consist only of letters, digits, dots, dashes, underscores and, between
 * quotes, spaces. It must be quoted as a whole (by quotes around it or a backslash in front) or not at all.
 */
export function scanDelimiter(source: Source, strips: boolean): void {
  source.at += source.match(/[ \t]*/y)?.length ?? 0
  const pos = source.at
  const written = source.match(/'[\w .-]+'|"[\w .-]+"|\\?[\w.-]+/y)
  const isWhole =
    written !== undefined &&
    /^(?:[\s;&|()<>]|$)/.test(source.text.slice(source.at + written.length, source.at + written.length + 1))
  if (!isWhole) fail('the delimiter of a heredoc has unusual characters or is quoted only in part')
  source.at += written.length
  source.token('delimiter', pos)
  const quoted = /^['"\\]/.test(written)
  source.pending.push({ value: written.replace(/['"\\]/g, ''), strips, quoted })
}

/** Reads the bodies of the pending heredocs, the first of which begins on the next line. Stops before the newline after the last closing delimiter. */
export function scanBodies(source: Source): void {
  const due = source.pending
  source.pending = []
  for (const { value, strips, quoted } of due) {
    source.at++
    const start = source.at
    let continued = false
    for (;;) {
      if (source.at >= source.end) fail('a heredoc has no end')
      const newline = source.text.indexOf('\n', source.at)
      const lineEnd = newline < 0 || newline > source.end ? source.end : newline
      const line = source.text.slice(source.at, lineEnd)
      const tabs = strips ? (/^\t*/.exec(line)?.[0].length ?? 0) : 0
      if (continued && line.slice(tabs).startsWith(value)) fail('the end of a heredoc follows a continued line')
      if (line.slice(tabs) === value) {
        readBody(source, start, quoted)
        source.at += tabs
        const closing = source.at
        source.at = lineEnd
        source.token('closing', closing)
        break
      }
      continued = !quoted && /(?:^|[^\\])(?:\\\\)*\\$/.test(line)
      source.at = lineEnd + 1
    }
  }
}

/** Adds the token of a heredoc's body, which ends at the current position. Scans the expansions in the body, unless the delimiter was quoted. */
function readBody(source: Source, start: number, quoted: boolean): void {
  const end = source.at
  source.token('body', start)
  if (quoted) return
  source.at = start
  source.within(end, () => scanQuoted(source, ''))
}
