/** A simple implementation of the matcher's four passes. The tests compare the fast matcher with it. */
const map: readonly (readonly [RegExp, string])[] = [
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u2018-\u201B]/g, "'"],
  [/[\u201C-\u201F]/g, '"'],
  [/[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g, ' '],
]
const space = '[\\t\\n\\v\\f\\r \\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]+'
const trimEnd = (text: string): string => text.replace(new RegExp(`${space}$`), '')
const trimBoth = (text: string): string => trimEnd(text).replace(new RegExp(`^${space}`), '')
const plain = (text: string): string => map.reduce((all, [from, to]) => all.replace(from, to), trimBoth(text))

export const reductions = [(text: string) => text, trimEnd, trimBoth, plain] as const

/** Finds all places at or after a line where a block occurs. They come from the first pass that finds any; `pass` is the number of that pass. */
export function seekNaively(
  lines: readonly string[],
  block: readonly string[],
  from: number,
): { pass: number; hits: number[] } | undefined {
  for (const [pass, reduce] of reductions.entries()) {
    const hits: number[] = []
    for (let start = from; start + block.length <= lines.length; start++) {
      if (block.every((line, index) => reduce(line) === reduce(lines[start + index] ?? ''))) hits.push(start)
    }
    if (hits.length > 0) return { pass, hits }
  }
  return undefined
}
