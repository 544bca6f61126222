import type { LineHint } from '../patch.ts'
import { trim } from '../text/trim.ts'

/** The path in a header, and the same without the stars that models put behind it, if there are any. */
export function pathOf(header: string, strict: boolean): { readonly path: string; readonly undecorated?: string } {
  const line = strict ? header : trim(header)
  const path = line.slice(line.indexOf(': ') + 2)
  return strict || !/\S \*{3,}$/.test(path) ? { path } : { path, undecorated: path.replace(/ \*+$/, '') }
}

/**
 * What a line with `@@` says: the text to search for, or, in lenient mode, the line numbers in the header of a unified diff; undefined if it says
 * nothing.
 */
export function anchorOf(line: string, strict: boolean): string | LineHint | undefined {
  const text = line.slice(2).replace(/\n$/, '')
  const numbers = strict ? null : /^ -(\d{1,9})(?:,(\d{1,9}))? \+\d+(?:,\d+)? @@(?:$| (.*))/.exec(text)
  if (numbers !== null) {
    const section = numbers[3]?.trimEnd() ?? ''
    const hint = { start: Number(numbers[1]), count: Number(numbers[2] ?? '1') }
    return section === '' ? hint : { ...hint, section }
  }
  return text.trim() !== '' || text.length > 1 ? text.slice(1) : undefined
}
