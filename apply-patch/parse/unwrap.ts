import type { Repair, RepairCode } from '../patch.ts'
import { PatchError, type MalformedFailure } from '../patch-error.ts'
import { unwrapJson } from './unwrap-json.ts'
import { trim } from '../text/trim.ts'

/** The position of a patch in the text that contains it. `from` is the offset after the Begin line; `to` is the offset at which the End line starts. */
type Envelope = { readonly bytes: Buffer; readonly from: number; readonly to: number }

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const decorated = /^[*#]*\s*(begin|end) patch\s*[*#:]*$/i
const heredoc = /^(.*?)<<(-?)\s*(["']?)([A-Za-z_][\w.-]*)\3\s*$/

/**
 * Finds the envelope of a patch, in lenient mode also inside the wrappers that models add.
 *
 * @throws PatchError `malformed`, which names the line that was found instead of a marker, or the command if it changes the directory
 */
export function unwrap(input: Buffer, strict: boolean, repairs: Repair[]): Envelope {
  const bytes = withoutCarriageReturns(input)
  const exact = findExact(bytes, strict)
  if (exact !== undefined) return exact
  if (strict) throw missingMarker(bytes)
  return unwrapLenient(bytes, repairs)
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

/**
 * Finds the envelope in the simple case: the first line is the Begin marker and the last line is the End marker, possibly within the heredoc that Codex uses.
 */
function findExact(bytes: Buffer, strict: boolean): Envelope | undefined {
  let [from, to] = strict ? [0, bytes.at(-1) === 10 ? bytes.length - 1 : bytes.length] : trimmed(bytes, 0, bytes.length)
  if (
    !strict &&
    /^<<(EOF|'EOF'|"EOF")$/.test(firstLine(bytes, from, to)) &&
    lastLine(bytes, from, to).endsWith('EOF')
  ) {
    ;[from, to] = trimmed(bytes, nextLine(bytes, from, to), lastLineStart(bytes, from, to))
  }
  const first = firstLine(bytes, from, to)
  const last = lastLine(bytes, from, to)
  if ((strict ? first : trim(first)) !== BEGIN || (strict ? last : trim(last)) !== END) return undefined
  const start = nextLine(bytes, from, to)
  return { bytes, from: start, to: Math.max(start, lastLineStart(bytes, from, to)) }
}

function unwrapLenient(input: Buffer, repairs: Repair[]): Envelope {
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
  const exact = findExact(bytes, false)
  if (exact !== undefined) return exact
  return findMarkers(bytes, repairs)
}

type Marker = { readonly start: number; readonly end: number; readonly text: string }

function findMarkers(input: Buffer, repairs: Repair[]): Envelope {
  const begin = findMarker(input, 'begin', 0, input.length)
  if (begin === undefined) throw missingMarker(input)
  let bytes = input
  const before = input.toString('utf8', Math.max(0, begin.start - 4096), begin.start).trimEnd()
  const opening = before.slice(before.lastIndexOf('\n') + 1).trim()
  const word = heredoc.exec(opening)
  if (word !== null) {
    const command = word[1]?.trim() ?? ''
    if (/(^|[;&|\s])(cd|pushd)\s/.test(command)) {
      throw new PatchError('malformed', [{ code: 'changes-directory', found: opening }])
    }
    if (word[2] === '-') bytes = withoutLeadingTabs(input, begin.start)
  }
  const end = findMarker(bytes, 'end', begin.start, bytes.length)
  if (end === undefined) throw missing('end-missing', lastLine(bytes, ...trimmed(bytes, begin.start, bytes.length)))
  const after = bytes.toString('utf8', end.end).trim()
  // The text after the patch may be prose. If it is another part of the patch, ignoring it would apply only a part of the intended change.
  const more = after.split('\n').find((line) => /^[*\s]*(begin patch|(add|update|delete) file:|end patch)/i.test(line))
  if (more !== undefined) throw missing('end-missing', more)
  reportWrapping(before, opening, after, word !== null, repairs)
  for (const [marker, plain] of [
    [begin, BEGIN],
    [end, END],
  ] as const) {
    if (marker.text !== plain) repairs.push(repair('decorated-marker', `read "${clip(marker.text)}" as "${plain}"`))
  }
  const inside = findMarker(bytes, 'begin', begin.start, bytes.length)
  return { bytes, from: inside?.end ?? begin.end, to: end.start }
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
function findMarker(bytes: Buffer, which: 'begin' | 'end', from: number, to: number): Marker | undefined {
  const words =
    which === 'begin' ? ['Begin Patch', 'begin patch', 'BEGIN PATCH'] : ['End Patch', 'end patch', 'END PATCH']
  let best: Marker | undefined
  for (const word of words) {
    for (let at = bytes.indexOf(word, from); at !== -1 && at < to; at = bytes.indexOf(word, at + 1)) {
      if (best !== undefined && at > best.start) break
      const start = lineAround(bytes, at, -1)
      const end = lineAround(bytes, at, 1)
      if (start === undefined || end === undefined) continue
      const line = bytes.toString('utf8', start, end)
      // A line that starts with a mark (`+`, `-` or a space) belongs to a body and doesn't end the patch.
      if (which === 'end' && /^[ +-]/.test(line)) continue
      const match = decorated.exec(line.trim())
      if (match?.[1]?.toLowerCase() !== which) continue
      best = { start, end, text: line.trim() }
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

function missingMarker(bytes: Buffer): PatchError {
  const [from, to] = trimmed(bytes, 0, bytes.length)
  const first = firstLine(bytes, from, to)
  // If the text is empty, the End marker is the one that is reported as missing.
  if (from === to || trim(first) === BEGIN) return missing('end-missing', lastLine(bytes, from, to))
  return missing('begin-missing', first)
}

function missing(code: MalformedFailure['code'], found: string): PatchError {
  return new PatchError('malformed', [{ code, found: clip(found) }])
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

function nextLine(bytes: Buffer, from: number, to: number): number {
  const found = bytes.indexOf(10, from)
  return found === -1 || found >= to ? to : found + 1
}

function lastLineStart(bytes: Buffer, from: number, to: number): number {
  return Math.max(from, to > 0 ? bytes.lastIndexOf(10, to - 1) + 1 : 0)
}

function firstLine(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', from, Math.min(nextLine(bytes, from, to), from + 1000)).replace(/\n$/, '')
}

function lastLine(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', Math.max(lastLineStart(bytes, from, to), to - 1000), to)
}
