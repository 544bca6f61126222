import { InvalidArgumentError } from 'commander'
import { dollarsOf, microsOf } from '../../core/money.ts'

/**
 * Parses a positive whole number that is small enough to be converted from seconds to milliseconds exactly. Throws commander's own error for anything
 * else.
 */
export function positive(value: string): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number > 0 && Number.isSafeInteger(number * 1000)) return number
  throw new InvalidArgumentError('expected a whole number above 0.')
}

/** Parses a whole number of at most six digits, including 0. Throws commander's own error for anything else. */
export function count(value: string): number {
  if (/^\d{1,6}$/.test(value)) return Number(value)
  throw new InvalidArgumentError('expected a whole number from 0 to 999999.')
}

/** Parses an amount of US dollars, at least a millionth, to which it is rounded. Throws commander's own error for anything else. */
export function dollars(value: string): number {
  const micros = microsOf(Number(value))
  if (/^\d*\.?\d+$/.test(value) && micros > 0 && Number.isSafeInteger(micros)) return dollarsOf(micros)
  throw new InvalidArgumentError('expected an amount of US dollars above 0, of which a millionth is the smallest part.')
}

/** Adds the words of a list that are separated by commas or spaces, but not within brackets: `Read,Bash(git add:*)`. */
export function words(value: string, earlier?: readonly string[] | boolean): readonly string[] {
  const found = Array.isArray(earlier) ? [...(earlier as readonly string[])] : []
  let [word, depth] = ['', 0]
  for (const letter of value) {
    depth = Math.max(0, depth + (letter === '(' ? 1 : letter === ')' ? -1 : 0))
    if (depth > 0 || !/[\s,]/.test(letter)) word += letter
    else {
      found.push(word)
      word = ''
    }
  }
  return [...found, word].filter((each) => each !== '')
}

/** Adds a value to the earlier values of an option that may be given several times. */
export function another(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
