/** Lists the words that a short brace expansion without nesting, such as `{a,b}` or `{1..5}`, produces. Returns undefined for any other text. */
export function expandBraces(text: string): readonly string[] | undefined {
  const inner = /^\{([^{}'"\\$`*?[\]~]*)\}$/.exec(text)?.[1]
  if (inner === undefined) return undefined
  // Bash pads all numbers of a range with zeros if one of its ends has a leading zero. Such a range isn't expanded here.
  const range = /^(0|-?[1-9][0-9]{0,5})\.\.(0|-?[1-9][0-9]{0,5})$/.exec(inner)
  if (range !== null) {
    const [from, to] = [Number(range[1]), Number(range[2])]
    if (Math.abs(to - from) > 256) return undefined
    const step = from <= to ? 1 : -1
    return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(from + index * step))
  }
  const words = inner.split(',')
  return words.length > 1 && words.length <= 64 ? words : undefined
}

/**
 * An upper bound on the number of words that a brace expansion produces: the product of the sizes of all lists and ranges. For nested lists it may be
 * too high: `{a,{b,c}}` produces three words, but counts as four.
 */
export function countOfBraces(text: string): number {
  const numbers = [...text.matchAll(/([+-]?[0-9]{1,20})\.\.([+-]?[0-9]{1,20})/g)]
  const letters = [...text.matchAll(/\{([A-Za-z])\.\.([A-Za-z])(?=\}|\.\.)/g)]
  const ranges = [
    ...numbers.map(([, from, to]) => Math.abs(Number(to) - Number(from)) + 1),
    ...letters.map(([, from = '', to = '']) => Math.abs(to.charCodeAt(0) - from.charCodeAt(0)) + 1),
  ]
  const lists: number[] = []
  const open: number[] = []
  for (const character of text) {
    if (character === '{') open.push(1)
    else if (character === '}') lists.push(open.pop() ?? 1)
    else if (character === ',') open.push((open.pop() ?? 1) + 1)
  }
  return [...ranges, ...lists, ...open].reduce((product, count) => product * count, 1)
}
