import { isAscii, isUtf8 } from 'node:buffer'
import { declaredInText, markedEncoding, type Declaration } from './declared-in-text.ts'
import { findEncoding, utf16, type Encoding, type Lookup } from './encoding.ts'

/** Why text can't be added to a file: the word for the failure, and the facts of this case. */
export type EncodingFault = {
  readonly reason:
    'encoding-unknown' | 'encoding-mismatch' | 'encoding-unsupported' | 'encoding-conflict' | 'encoding-lacks'
  readonly detail: string
}

/** What is known about the encoding of a file. */
type Choice =
  /** The bytes of the patch are added as they are. `doubt`: why that may be wrong although the file is UTF-8. */
  | { readonly type: 'as-is'; readonly doubt?: string }
  | { readonly type: 'encoded'; readonly encoding: Encoding; readonly by: string }
  /** Only ASCII can be added, which has the same bytes in this file. */
  | { readonly type: 'ascii-only'; readonly fault: EncodingFault }
  /** Nothing can be added. */
  | { readonly type: 'fault'; readonly fault: EncodingFault }

/** What would decide the encoding of a file, for messages. */
const remedy =
  'declare it (a coding comment, XML or HTML declaration in the file, "charset" in .editorconfig, or "working-tree-encoding" in .gitattributes), or convert the file to UTF-8'

/**
 * Chooses the encoding in which text is added to a file. Only declarations decide, never how often which bytes occur.
 *
 * @param bytes the file's present content
 * @param forPath returns what the repository's configuration declares for the file. It is called only if that matters
 * @param declaring the text whose declarations count, if it isn't the present content
 */
export function chooseEncoding(
  bytes: Buffer,
  path: string,
  forPath: () => readonly Declaration[],
  declaring: Uint8Array = bytes,
): Choice {
  const marked = markedEncoding(bytes)
  if (marked === 'utf-32') return { type: 'fault', fault: { reason: 'encoding-unsupported', detail: 'UTF-32' } }
  if (marked !== undefined) {
    const encoding = utf16(marked)
    const detail = `its byte-order mark says ${marked.toUpperCase()}, but its bytes are not`
    if (encoding.decode(bytes) === undefined) return { type: 'fault', fault: { reason: 'encoding-mismatch', detail } }
    return { type: 'encoded', encoding, by: 'its byte-order mark' }
  }
  const isText = isUtf8(bytes) && !bytes.includes(0)
  if (isText && hasEscapes(bytes)) {
    return {
      type: 'ascii-only',
      fault: { reason: 'encoding-unsupported', detail: 'ISO-2022, by its escape sequences' },
    }
  }
  const declared = [...declaredInText(declaring, path), ...forPath()].map((one) => ({
    ...one,
    encoding: findEncoding(one.label, one.isHtml === true),
  }))
  const named = declared.filter(({ encoding }) => encoding !== 'unknown')
  const fitting = named.filter(({ encoding }) => fits(encoding, bytes))
  const [first] = fitting
  const other = fitting.find(({ encoding }) => nameOf(encoding) !== nameOf(first?.encoding ?? 'utf-8'))
  if (isText && !isAscii(bytes)) {
    // The file is UTF-8. A declaration of another encoding is old, or the bytes only look like UTF-8.
    const strange = named.find(({ encoding }) => encoding !== 'utf-8')
    if (strange === undefined || named.some(({ encoding }) => encoding === 'utf-8')) return { type: 'as-is' }
    return { type: 'as-is', doubt: `${strange.by} says ${strange.label}, but its bytes are UTF-8` }
  }
  if (first !== undefined && other !== undefined) {
    const detail = `${first.by} says ${first.label}, and ${other.by} says ${other.label}`
    return { type: 'ascii-only', fault: { reason: 'encoding-conflict', detail } }
  }
  if (first !== undefined) {
    if (first.encoding === 'utf-8') return { type: 'as-is' }
    if (typeof first.encoding === 'object') return { type: 'encoded', encoding: first.encoding, by: first.by }
    return { type: 'ascii-only', fault: { reason: 'encoding-unsupported', detail: `${first.label}, by ${first.by}` } }
  }
  if (isText) return { type: 'as-is' }
  const [wrong] = named
  if (wrong !== undefined) {
    const detail = `${wrong.by} says ${wrong.label}, but its bytes are not`
    return { type: 'ascii-only', fault: { reason: 'encoding-mismatch', detail } }
  }
  // Text with zero bytes may still be UTF-8, unless its line ends take two bytes.
  if (isUtf8(bytes) && !hasWideLineEnds(bytes)) return { type: 'as-is' }
  const unknown = (why: string): EncodingFault => ({
    reason: 'encoding-unknown',
    detail: `${why}, and nothing says what its encoding is; ${remedy}`,
  })
  return hasWideLineEnds(bytes)
    ? { type: 'fault', fault: unknown('the line feeds of the file are half of characters of two bytes, as in UTF-16') }
    : { type: 'ascii-only', fault: unknown("the patch adds text that is not ASCII, but the file isn't UTF-8") }
}

/**
 * What is wrong with what a file says about its encoding if its text changes and its bytes don't, so that they stay in the encoding that they are in; undefined if it
 * is right, or as wrong as before.
 *
 * @param changed the text after the change
 */
export function findFalseClaim(
  bytes: Buffer,
  changed: Uint8Array,
  path: string,
  forPath: () => readonly Declaration[],
): string | undefined {
  const labels = (text: Uint8Array): string => JSON.stringify(declaredInText(text, path).map(({ label }) => label))
  if (labels(bytes) === labels(changed)) return undefined
  const before = chooseEncoding(bytes, path, forPath)
  const after = chooseEncoding(bytes, path, forPath, changed)
  if (after.type === 'as-is') return after.doubt
  const known = before.type === 'encoded' ? before.encoding.name : undefined
  if (after.type === 'encoded') {
    const isOther = known !== undefined && known !== after.encoding.name
    return isOther ? `${after.by} says ${after.encoding.name}, but its bytes are ${known}` : undefined
  }
  if (after.fault.reason !== 'encoding-unknown') return after.fault.detail
  return known === undefined ? undefined : `nothing says any longer that it is ${known}`
}

/** Chooses the encoding of a new file. In-text declarations count as they do when the file is read. */
export function chooseForNew(content: Buffer, path: string, forPath: () => readonly Declaration[]): Choice {
  if (isAscii(content)) {
    // ASCII is the same in most encodings, so only the repository's configuration can make a difference.
    const wide = forPath().find(({ label }) => /^(?:utf-?16|ucs-?2)/i.test(label))
    const encoding = wide === undefined ? undefined : findEncoding(wide.label, false)
    return typeof encoding === 'object' && wide !== undefined
      ? { type: 'encoded', encoding, by: wide.by }
      : { type: 'as-is' }
  }
  const named = [...declaredInText(content, path), ...forPath()]
    .map((one) => ({ ...one, encoding: findEncoding(one.label, one.isHtml === true) }))
    .filter(({ encoding }) => encoding !== 'unknown')
  const [first] = named
  const other = named.find(({ encoding }) => nameOf(encoding) !== nameOf(first?.encoding ?? 'utf-8'))
  if (first === undefined || (first.encoding === 'utf-8' && other === undefined)) return { type: 'as-is' }
  if (other !== undefined) {
    const detail = `${first.by} says ${first.label}, and ${other.by} says ${other.label}`
    return { type: 'fault', fault: { reason: 'encoding-conflict', detail } }
  }
  if (typeof first.encoding === 'object') return { type: 'encoded', encoding: first.encoding, by: first.by }
  return { type: 'fault', fault: { reason: 'encoding-unsupported', detail: `${first.label}, by ${first.by}` } }
}

function nameOf(encoding: Lookup): string {
  return typeof encoding === 'string' ? encoding : encoding.name
}

function fits(encoding: Lookup, bytes: Buffer): boolean {
  if (encoding === 'utf-8') return isUtf8(bytes) && !hasWideLineEnds(bytes)
  if (typeof encoding === 'string') return true
  // Nearly all bytes could be decoded as UTF-16, but a line of it ends with a zero byte.
  const isLikely = encoding.unit === 2 ? bytes.length === 0 || bytes.includes(0) : !hasWideLineEnds(bytes)
  return isLikely && encoding.decode(bytes) !== undefined
}

/** Whether the text switches between character sets by the escape sequences of ISO 2022, in which Japanese and Korean mail is written. */
function hasEscapes(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(0x1b); at !== -1; at = bytes.indexOf(0x1b, at + 1)) {
    const [next, after] = [bytes[at + 1], bytes[at + 2]]
    if (next === 0x24 && (after === 0x40 || after === 0x41 || after === 0x42 || after === 0x28 || after === 0x29))
      return true
  }
  return false
}

/** Whether each line feed is half of a character of two bytes, as in UTF-16. */
function hasWideLineEnds(bytes: Buffer): boolean {
  let [little, big] = [true, true]
  let at = bytes.indexOf(10)
  if (at === -1 || bytes.length % 2 === 1) return false
  for (; at !== -1 && (little || big); at = bytes.indexOf(10, at + 1)) {
    little &&= at % 2 === 0 && bytes[at + 1] === 0
    big &&= at % 2 === 1 && bytes[at - 1] === 0
  }
  return little || big
}
