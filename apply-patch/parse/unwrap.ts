import type { Repair, RepairCode } from '../patch.ts'
import { PatchError } from '../patch-error.ts'
import { lastLineStart, lineEnd } from './line-end.ts'
import { isMarker, plainMarker } from './markers.ts'
import { unwrapJson } from './unwrap-json.ts'

/** The position of a patch in a text: from the start of the line that should be its Begin marker to the end of the one that should be its End marker. */
type Place = { readonly text: Buffer; readonly from: number; readonly to: number }

const heredoc = /^(.*?)<<(-?)\s*(["']?)([A-Za-z_][\w.-]*)\3\s*$/

/**
 * Removes what models put around a patch, in lenient mode. Whether the rest begins and ends like a patch, the grammar decides.
 *
 * @throws PatchError `malformed`, which names the command around the patch if it changes the directory, or the line that comes behind the patch if it
 *   seems to be part of it
 */
export function unwrap(input: Buffer, strict: boolean, repairs: Repair[]): Place {
  const bytes = withoutCarriageReturns(input)
  if (strict) return { text: bytes, from: 0, to: bytes.length }
  return withoutIndentation(wholePatch(bytes) ?? unwrapText(bytes, repairs), repairs)
}

/** Removes the indentation that all lines of a patch have in common, as in a list of a Markdown text. */
function withoutIndentation(place: Place, repairs: Repair[]): Place {
  const { text: bytes, from, to } = place
  const [start, end] = [lineEnd(bytes, from, to), lastLineStart(bytes, from, to)]
  const first = bytes[start]
  if ((first !== 32 && first !== 9 && first !== 10) || start >= end) return place
  const text = bytes.toString('utf8', start, end)
  const indent = /^\n*([ \t]+)\*\*\* /.exec(text)?.[1]
  if (indent === undefined) return place
  const lines = text.split('\n')
  if (!lines.every((line) => line.startsWith(indent) || line.trim() === '')) return place
  repairs.push(repair('indented', 'removed the indentation that all lines of the patch have in common'))
  const plain = lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : '')).join('\n')
  const whole = Buffer.concat([bytes.subarray(from, start), Buffer.from(plain), bytes.subarray(end, to)])
  return { text: whole, from: 0, to: whole.length }
}

/** Removes the carriage returns at the ends of lines, because a patch that was written on Windows means the same without them. */
function withoutCarriageReturns(bytes: Buffer): Buffer {
  if (!bytes.includes('\r\n') && bytes.at(-1) !== 13) return bytes
  const clean = Buffer.allocUnsafe(bytes.length)
  let to = 0
  for (const byte of bytes) {
    if (byte === 10) while (to > 0 && clean[to - 1] === 13) to--
    clean[to++] = byte
  }
  while (to > 0 && clean[to - 1] === 13) to--
  return clean.subarray(0, to)
}

/** The place of a patch that has at most blank lines around it, or the heredoc that Codex removes; undefined if there is anything else. */
function wholePatch(bytes: Buffer): Place | undefined {
  let [from, to] = trimmed(bytes, 0, bytes.length)
  if (
    /^<<(EOF|'EOF'|"EOF")$/.test(lineAt(bytes, from, to)) &&
    lineAt(bytes, lastLineStart(bytes, from, to), to).endsWith('EOF')
  )
    [from, to] = trimmed(bytes, lineEnd(bytes, from, to), lastLineStart(bytes, from, to))
  const isWhole =
    plainMarker(lineAt(bytes, from, to), 'begin') === undefined &&
    plainMarker(lineAt(bytes, lastLineStart(bytes, from, to), to), 'end') === undefined
  return isWhole ? { text: bytes, from, to } : undefined
}

function unwrapText(input: Buffer, repairs: Repair[]): Place {
  let bytes = input
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    bytes = bytes.subarray(3)
    repairs.push(repair('byte-order-mark', 'dropped the byte-order mark before the patch'))
  }
  const text = unwrapJson(bytes)
  if (text !== undefined) {
    repairs.push(
      repair(text.form, text.form === 'json' ? 'extracted the patch from JSON' : 'converted \\n to newlines'),
    )
    bytes = withoutCarriageReturns(Buffer.from(text.patch))
  }
  return wholePatch(bytes) ?? findMarkers(bytes, repairs)
}

type Marker = { readonly start: number; readonly end: number }

/** Finds the first line that begins a patch, and the first behind it that ends one. */
function findMarkers(input: Buffer, repairs: Repair[]): Place {
  const [start, stop] = trimmed(input, 0, input.length)
  const begin = findMarker(input, 'begin', 0)
  if (begin === undefined) return { text: input, from: start, to: stop }
  let bytes = input
  const before = input.toString('utf8', Math.max(0, begin.start - 4096), begin.start).trimEnd()
  const opening = before.slice(before.lastIndexOf('\n') + 1).trim()
  const word = heredoc.exec(opening)
  if (word !== null) {
    const command = word[1]?.trim() ?? ''
    if (/(^|[;&|\s])(cd|pushd)\s/.test(command))
      throw new PatchError('malformed', [{ code: 'changes-directory', found: opening }])
    if (word[2] === '-') bytes = withoutLeadingTabs(input, begin.start)
  }
  const indent = /^[ \t]*/.exec(bytes.toString('utf8', begin.start, begin.start + 200))?.[0]
  const end = findMarker(bytes, 'end', begin.start, indent)
  if (end === undefined) return { text: bytes, from: begin.start, to: trimmed(bytes, begin.start, bytes.length)[1] }
  const after = bytes.toString('utf8', end.end).trim()
  // The text after the patch may be prose. If it is another part of the patch, ignoring it would apply only a part of the intended change.
  const more = after.split('\n').find((line) => /^[*\s]*(begin patch|(add|update|delete) file:|end patch)/i.test(line))
  if (more !== undefined) throw new PatchError('malformed', [{ code: 'end-missing', found: clip(more) }])
  reportWrapping(before, opening, after, word !== null, repairs)
  return { text: bytes, from: begin.start, to: end.end }
}

function reportWrapping(before: string, opening: string, after: string, isHeredoc: boolean, repairs: Repair[]): void {
  if (isHeredoc) repairs.push(repair('heredoc', `ignored the here-document around the patch: ${clip(opening)}`))
  else if (/^(```|~~~)/.test(opening)) repairs.push(repair('code-fence', 'ignored the code fence around the patch'))
  const wordsBefore = isHeredoc || /^(```|~~~)/.test(opening) ? before.slice(0, before.lastIndexOf('\n') + 1) : before
  const wordsAfter = after.replace(/^(```|~~~)\s*/, '')
  if (wordsBefore.trim() !== '' || (wordsAfter !== '' && !isHeredoc)) {
    repairs.push(repair('surrounding-text', 'ignored the text around the patch'))
  }
}

/** Finds the first line that is a marker. Only lines that contain the words of a marker are examined, so that a large input costs little. */
function findMarker(bytes: Buffer, which: 'begin' | 'end', from: number, indent = ''): Marker | undefined {
  const words =
    which === 'begin' ? ['Begin Patch', 'begin patch', 'BEGIN PATCH'] : ['End Patch', 'end patch', 'END PATCH']
  let best: Marker | undefined
  for (const word of words) {
    for (let at = bytes.indexOf(word, from); at !== -1; at = bytes.indexOf(word, at + 1)) {
      if (best !== undefined && at > best.start) break
      const start = lineAround(bytes, at, -1)
      const end = lineAround(bytes, at, 1)
      if (start === undefined || end === undefined) continue
      const first = bytes[start]
      // A line that starts with a mark (`+`, `-` or a space) belongs to a body and doesn't end the patch, unless the whole patch is indented.
      const hasMark = first === 32 || first === 43 || first === 45
      const isIndented = indent !== '' && bytes.toString('utf8', start, end).startsWith(`${indent}*`)
      if ((which === 'end' && hasMark && !isIndented) || !isMarker(bytes, start, end, which, false)) continue
      best = { start, end }
      break
    }
  }
  return best
}

/** The start or the end of the line that contains the offset `at`; undefined if it is so far away that the line can't be a marker. */
function lineAround(bytes: Buffer, at: number, direction: -1 | 1): number | undefined {
  if (direction === -1) {
    const from = Math.max(0, at - 80)
    const before = bytes.subarray(from, at).lastIndexOf(10)
    return before === -1 ? (from === 0 ? 0 : undefined) : from + before + 1
  }
  const after = bytes.subarray(at, at + 80).indexOf(10)
  return after === -1 ? (at + 80 >= bytes.length ? bytes.length : undefined) : at + after + 1
}

function withoutLeadingTabs(bytes: Buffer, from: number): Buffer {
  const text = bytes.toString('latin1', from).replace(/^\t+/gm, '')
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(text, 'latin1')])
}

function repair(code: RepairCode, message: string): Repair {
  return { code, message }
}

function clip(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

const blank = new Set([9, 10, 11, 12, 13, 32])

function trimmed(bytes: Buffer, start: number, end: number): [number, number] {
  let [from, to] = [start, Math.max(start, end)]
  while (from < to && blank.has(bytes[from] ?? 0)) from++
  while (to > from && blank.has(bytes[to - 1] ?? 0)) to--
  return [from, to]
}

function lineAt(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', from, Math.min(lineEnd(bytes, from, to), from + 1000)).replace(/\n$/, '')
}
