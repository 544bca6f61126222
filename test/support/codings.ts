/** The ways in which a value may be written down, of which a search finds each: as it is, in base64 at three offsets, in base 16, backwards and in a URL. */
export function codingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const offsets = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes])
    return [shifted.toString('base64'), shifted.toString('base64url')].map((coded) => coded.slice(offset + 1, -4))
  })
  const hex = bytes.toString('hex')
  const escaped = bytes.reduce((text, byte) => `${text}%${byte.toString(16).padStart(2, '0')}`, '')
  const utf16 = Buffer.from(value, 'utf16le').toString('latin1')
  const all = [value, ...offsets, hex, hex.toUpperCase(), escaped, encodeURIComponent(value), utf16]
  return [...new Set([...all, [...value].toReversed().join('')])]
}

/** The codings of a value that are in these bytes. */
export function codingsIn(bytes: Buffer | string, value: string): readonly string[] {
  const text = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes
  return codingsOf(value).filter((coding) => text.includes(Buffer.from(coding, 'latin1')))
}
