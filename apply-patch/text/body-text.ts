/** What the lines of a body say, without their marks, each ending in LF. */
export function textOf(body: Uint8Array): Buffer {
  return withoutMarks(body)
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
