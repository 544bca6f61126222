/** The file content that a body describes: its lines without marks, each ending in LF. The last line has no LF if it is `unterminated`. */
export function wholeText(body: Uint8Array, { unterminated }: { readonly unterminated?: true }): Buffer {
  const text = withoutMarks(body)
  return unterminated === true && text.at(-1) === 10 ? text.subarray(0, -1) : text
}

function withoutMarks(body: Uint8Array): Buffer {
  const text = Buffer.allocUnsafe(body.length)
  let to = 0
  let isLineStart = true
  for (let from = 0; from < body.length; from++) {
    const byte = body[from] ?? 0
    if (!isLineStart) text[to++] = byte
    isLineStart = byte === 10
  }
  return text.subarray(0, to)
}
