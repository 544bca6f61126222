/** A statement about the encoding of a file, and where it is made, as in "declared by …". */
export type Declaration = { readonly label: string; readonly by: string; readonly isHtml?: true }

/** How much of a file is searched: the beginning for XML and HTML, and some lines at its beginning and its end for editors. */
const headSize = 1024
const tailSize = 3000

/** The encoding that a byte-order mark declares; undefined if there is none, or if it is that of UTF-8. */
export function markedEncoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | 'utf-32' | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 && bytes.length >= 4 ? 'utf-32' : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? 'utf-32' : undefined
}

/** The parts of a text that are searched for declarations, as a text that is searched in the same way. */
export function declaringPart(pieces: readonly Uint8Array[]): Uint8Array {
  const size = pieces.reduce((sum, { length }) => sum + length, 0)
  const [head, tail] = [3 + headSize, tailSize]
  if (size <= head + tail) return Buffer.concat(pieces)
  const taken: Uint8Array[] = []
  let at = 0
  for (const piece of pieces) {
    const [first, last] = [Math.max(0, head - at), Math.max(0, size - tail - at)]
    taken.push(piece.subarray(0, first), piece.subarray(Math.max(first, last)))
    at += piece.length
  }
  return Buffer.concat(taken)
}

/** The encodings that a file's own text declares: XML, HTML and CSS, the comments of Python and Ruby, and those that Emacs and Vim read. */
export function declaredInText(bytes: Uint8Array, path: string): readonly Declaration[] {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const head = latin1(bytes.subarray(start, start + headSize))
  const lines = head.split(/\r\n|\n|\r/)
  const tail = bytes.length > headSize ? latin1(bytes.subarray(-tailSize)).split(/\r\n|\n|\r/) : lines
  const found = [...byMarkup(bytes, head, path), ...byComments(lines), ...byEditors(lines, tail)]
  // An ASCII-compatible text can't be UTF-16, whatever it says.
  return found.filter(({ label, by }) => by === unmarkedXml || !/^utf-?16|^ucs-?2|^unicode/i.test(label))
}

const unmarkedXml = 'its XML declaration, which is in UTF-16'

function byMarkup(bytes: Uint8Array, head: string, path: string): readonly Declaration[] {
  if (head.startsWith('<\0?\0x\0m\0l\0')) return [{ label: 'utf-16le', by: unmarkedXml }]
  if (head.startsWith('\0<\0?\0x\0m\0l')) return [{ label: 'utf-16be', by: unmarkedXml }]
  const xml = /^<\?xml[ \t\r\n][^>]{0,200}/.exec(head)?.[0]
  const inXml = attribute(xml ?? '', 'encoding')
  if (inXml !== undefined) return [{ label: inXml, by: 'its XML declaration' }]
  const css = /^@charset "([^"\n]{1,40})";/.exec(head)?.[1]
  if (css !== undefined && bytes[0] === 0x40) return [{ label: css, by: 'its @charset' }]
  const isHtml = /\.(?:x?html?|shtml)$/i.test(path) || /^\s{0,50}<(?:!doctype\s{1,50}html|html)\b/i.test(head)
  return isHtml ? byMeta(head) : []
}

/** The encoding that the first `<meta>` of an HTML page names. */
function byMeta(head: string): readonly Declaration[] {
  const text = withoutComments(head)
  for (let at = text.search(/<meta[\s/]/i); at !== -1;) {
    const end = text.indexOf('>', at)
    const tag = text.slice(at, end === -1 ? text.length : end)
    const content = attribute(tag, 'content') ?? ''
    const isPragma = /^content-type$/i.test(attribute(tag, 'http-equiv') ?? '')
    const label =
      attribute(tag, 'charset') ??
      (isPragma ? /charset\s{0,20}=\s{0,20}["']?([\w.:-]{1,40})/i.exec(content)?.[1] : undefined)
    if (label !== undefined) return [{ label, by: 'its <meta> element', isHtml: true }]
    const next = text.slice(at + 5).search(/<meta[\s/]/i)
    at = next === -1 ? -1 : at + 5 + next
  }
  return []
}

function withoutComments(text: string): string {
  let result = ''
  for (let at = 0; ;) {
    const start = text.indexOf('<!--', at)
    if (start === -1) return result + text.slice(at)
    result += text.slice(at, start)
    const end = text.indexOf('-->', start + 4)
    if (end === -1) return result
    at = end + 3
  }
}

const attributes = /([\w-]{1,40})\s{0,20}=\s{0,20}(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'/>]{1,200}))/g

function attribute(tag: string, name: string): string | undefined {
  for (const [, key, ...values] of tag.matchAll(attributes)) {
    if (key?.toLowerCase() === name) return values.find((value) => value !== undefined)
  }
  return undefined
}

/** The cookie of Python (PEP 263) and Ruby: a comment in the first two lines. */
function byComments(lines: readonly string[]): readonly Declaration[] {
  for (const [index, line] of lines.slice(0, 2).entries()) {
    const text = line.trimStart()
    if (!text.startsWith('#')) {
      // The second line counts only if the first is empty or a comment too.
      if (index === 0 && text !== '') return []
      continue
    }
    const label = /coding[:=][ \t]{0,20}([\w.-]{1,40})/.exec(text.slice(0, 300))?.[1]
    if (label !== undefined) return [{ label, by: `the comment in line ${index + 1}` }]
  }
  return []
}

function byEditors(first: readonly string[], last: readonly string[]): readonly Declaration[] {
  const found: Declaration[] = []
  for (const line of first.slice(0, 2)) {
    const variables = /-\*-(.{1,300})-\*-/.exec(line)?.[1]
    const label = /(?:^|[\s;])coding:[ \t]{0,20}([\w.-]{1,40})/i.exec(variables ?? '')?.[1]
    if (label !== undefined) found.push({ label, by: 'its Emacs variables' })
  }
  for (const line of [...first.slice(0, 5), ...last.slice(-6)]) {
    const settings = /(?:^|\s)(?:vim?|ex):(.{1,300})/.exec(line)?.[1]
    const label = /(?:^|[\s:])(?:fileencoding|fenc)=([\w.-]{1,40})/.exec(settings ?? '')?.[1]
    if (label !== undefined) found.push({ label, by: 'its Vim modeline' })
  }
  const block = last.findLastIndex((line) => line.includes('Local Variables:'))
  const local =
    block === -1
      ? undefined
      : last.slice(block).map((line) => /\bcoding:[ \t]{0,20}([\w.-]{1,40})/.exec(line.slice(0, 300))?.[1])
  const label = local?.find((one) => one !== undefined)
  if (label !== undefined) found.push({ label, by: 'its Emacs variables' })
  return found
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
