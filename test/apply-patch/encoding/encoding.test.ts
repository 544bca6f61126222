import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeText, findEncoding, type Encoding } from '../../../apply-patch/encoding/encoding.ts'

const singleByte = [
  ...[
    'ibm866',
    'koi8-r',
    'koi8-u',
    'macintosh',
    'x-mac-cyrillic',
    'windows-874',
    'iso-8859-2',
    'iso-8859-5',
    'iso-8859-7',
  ],
  ...['iso-8859-15', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1255', 'windows-1258'],
]
const multiByte = ['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb18030', 'big5', 'utf-16le', 'utf-16be']

function encodingOf(label: string, isHtml = false): Encoding {
  const found = findEncoding(label, isHtml)
  if (typeof found === 'string') throw new Error(`${label} is ${found}`)
  return found
}

test.each(singleByte)('in %s, every byte that is a character comes back as that byte', (label) => {
  const encoding = encodingOf(label)
  for (let byte = 0; byte < 256; byte++) {
    const text = encoding.decode(Uint8Array.of(byte))
    if (text !== undefined) expect(encodeText(text, encoding)).toEqual(Buffer.of(byte))
  }
})

test.each(multiByte)('in %s, what can be encoded is decoded as the same text', (label) => {
  const encoding = encodingOf(label)
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'aZ~\\\n\r日本語あアｱ漢字한국어中文€é①∵Ж😀\u3000\u00a5〜~') }),
      (text) => {
        const bytes = encodeText(text, encoding)
        if (!('missing' in bytes)) expect(encoding.decode(bytes)).toBe(text)
      },
    ),
  )
})

test.each<[label: string, text: string, hex: string]>([
  ['Shift_JIS', '表ソ①∵ｱ', '955c835c874081e6b1'],
  ['sjis', '纊', 'fa5c'],
  ['cp932', '日本', '93fa967b'],
  ['euc_jp', '日本ｱ', 'c6fccbdc8eb1'],
  ['euc-kr', '한글', 'c7d1b1db'],
  ['cp949', '한', 'c7d1'],
  ['GBK', '中文', 'd6d0cec4'],
  ['gb18030', '€', 'a2e3'],
  ['Big5', '中十', 'a4a4a451'],
  ['windows-1252', '€é’', '80e992'],
  ['cp1251', 'Жя', 'c6ff'],
  ['latin-1', 'é', 'e9'],
  ['iso-8859-15', '€', 'a4'],
  ['iso_8859_1-unix', 'ß', 'df'],
  ['UTF-16LE', 'é\n', 'e9000a00'],
  ['utf-16be', '😀', 'd83dde00'],
])('%s has %s as %s', (label, text, hex) => {
  expect(encodeText(text, encodingOf(label))).toEqual(Buffer.from(hex, 'hex'))
})

describe('what an encoding does not have', () => {
  test.each([
    ['iso-8859-1', '€'],
    ['latin1', '’'],
    ['us-ascii', 'é'],
    ['windows-1252', 'Ж'],
    ['shift_jis', '한'],
    ['koi8-r', '€'],
    ['iso-8859-9', '€'],
  ])('%s does not have %s', (label, character) => {
    expect(encodeText(`a${character}b`, encodingOf(label))).toEqual({ missing: character })
  })

  test('an HTML page that says ISO-8859-1 means windows-1252, as browsers do', () => {
    expect(encodeText('€', encodingOf('iso-8859-1', true))).toEqual(Buffer.of(0x80))
  })

  test.each(['utf-7', 'iso-2022-jp', 'hz-gb-2312', 'utf-32', 'UTF-32LE'])('%s is known, and not written', (label) => {
    expect(findEncoding(label, false)).toBe('unsupported')
  })

  test.each(['utf-8', 'UTF8', 'utf_8', 'utf-8-unix', 'u8'])('%s is UTF-8, or no name at all', (label) => {
    expect(['utf-8', 'unknown']).toContain(findEncoding(label, false))
  })

  test.each(['', 'style', 'none', 'x-user-defined', '__proto__', 'constructor'])('%s is no encoding', (label) => {
    expect(findEncoding(label, false)).toBe('unknown')
  })
})
