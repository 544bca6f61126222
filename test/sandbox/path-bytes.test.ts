import { expect, test } from 'vitest'
import { compareBytes, decodeName, decodeText, encodeText, hasRawBytes } from '../../sandbox/path-bytes.ts'

/** Parts of names: characters of every length in UTF-8, the first and last of each range, and bytes that aren't a whole character. */
const parts = [
  ...[
    'a',
    '/',
    '\u007f',
    '\u0080',
    'ö',
    '\u07ff',
    '\u0800',
    '\ud7ff',
    '\ue000',
    '\ufffd',
    '\uffff',
    '😀',
    '\u{10ffff}',
  ],
  ...['80', 'bf', 'c0af', 'c3', 'e08080', 'e282', 'eda080', 'edb280', 'f08080', 'f09f98', 'f4908080', 'f5', 'ff'],
].map((part) => (/^[0-9a-f]{2,}$/.test(part) ? Buffer.from(part, 'hex') : Buffer.from(part)))
const names = parts.flatMap((a) => parts.flatMap((b) => parts.map((c) => Buffer.concat([a, b, c]))))

test('every name has its own text, which can be converted back to its bytes', () => {
  for (const name of names) {
    const text = decodeText(name)
    expect(encodeText(text).equals(name), name.toString('hex')).toBe(true)
    expect(decodeName(name.toString('latin1'))).toBe(text)
    expect(hasRawBytes(text)).toBe(!Buffer.from(name.toString()).equals(name))
  }
})

test('the text of a name that is UTF-8 is that name', () => {
  for (const name of names) if (!hasRawBytes(decodeText(name))) expect(decodeText(name)).toBe(name.toString())
})

test('texts are compared by their bytes', () => {
  for (const [index, name] of names.entries()) {
    const other = names[(index * 7919) % names.length] ?? name
    expect(Math.sign(compareBytes(decodeText(name), decodeText(other)))).toBe(Buffer.compare(name, other))
  }
})
