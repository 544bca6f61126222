import { Transform } from 'node:stream'

/** Writes asterisks over a value, which keeps the length of what contains it. */
export type ValueMask = {
  readonly text: (text: string) => string
  /** A stream that masks, and holds back only bytes with which the value could begin. */
  readonly stream: () => Transform
}

/** Creates the mask of a value: as it is, as a part of base64, and in the other ways in which an echo usually contains it. */
export function maskValue(value: string, sent: string): ValueMask {
  const needles = [
    ...new Set([
      value,
      ...base64s(value, 'base64'),
      ...base64s(value, 'base64url'),
      sent,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
    ]),
  ]
    .filter((needle) => needle.length >= 4)
    .map((needle) => Buffer.from(needle))
  const mask = (bytes: Buffer): Buffer => {
    let masked = bytes
    for (const needle of needles) {
      for (let at = masked.indexOf(needle); at !== -1; at = masked.indexOf(needle, at + needle.length)) {
        if (masked === bytes) masked = Buffer.from(bytes)
        masked.fill('*', at, at + needle.length)
      }
    }
    return masked
  }
  return {
    text: (text) => mask(Buffer.from(text)).toString(),
    stream: () => {
      let held = Buffer.alloc(0)
      return new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const masked = mask(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
          const kept = Math.max(0, ...needles.map((needle) => beginningAtEnd(masked, needle)))
          held = Buffer.from(masked.subarray(masked.length - kept))
          done(null, masked.subarray(0, masked.length - kept))
        },
        flush(done) {
          done(null, held)
        },
      })
    },
  }
}

/** How many bytes at the end of a text are the beginning of a needle, but not all of it. */
function beginningAtEnd(text: Buffer, needle: Buffer): number {
  for (let length = Math.min(text.length, needle.length - 1); length > 0; length--) {
    if (text.subarray(text.length - length).equals(needle.subarray(0, length))) return length
  }
  return 0
}

/** What base64 makes of a value at each of the three offsets, without the characters that depend on what is around it. */
function base64s(value: string, alphabet: 'base64' | 'base64url'): readonly string[] {
  return [0, 1, 2].map((offset) => {
    const coded = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
      .toString(alphabet)
      .replaceAll('=', '')
    const end = (offset + Buffer.byteLength(value)) % 3 === 0 ? coded.length : coded.length - 1
    return coded.slice(offset === 0 ? 0 : offset + 1, end)
  })
}
