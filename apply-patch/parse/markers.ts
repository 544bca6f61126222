import { trim } from '../text/trim.ts'

const markers = { begin: '*** Begin Patch', end: '*** End Patch' } as const
const decorated = { begin: /^[*#]*\s*begin patch\s*[*#:]*$/i, end: /^[*#]*\s*end patch\s*[*#:]*$/i } as const
/** No line that is longer is a marker. */
const longest = 200

/** Whether a line begins or ends a patch. Lenient mode also takes the spellings of models, such as `*** Begin Patch ***`. */
export function isMarker(bytes: Buffer, start: number, end: number, which: 'begin' | 'end', strict: boolean): boolean {
  if (end - start > longest) return false
  const text = bytes.toString('utf8', start, end)
  return strict ? text.replace(/\n$/, '') === markers[which] : decorated[which].test(trim(text))
}

/** The marker that a line is meant to be, if it is written otherwise. */
export function plainMarker(text: string, which: 'begin' | 'end'): string | undefined {
  return trim(text) === markers[which] ? undefined : markers[which]
}
