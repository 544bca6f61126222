import { InvalidArgumentError } from 'commander'

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

/** Parses a positive amount of US dollars. Throws commander's own error for anything else. */
export function dollars(value: string): number {
  if (/^\d*\.?\d+$/.test(value) && Number(value) > 0) return Number(value)
  throw new InvalidArgumentError('expected an amount of US dollars above 0.')
}

/** Adds a value to the earlier values of an option that may be given several times. */
export function another(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
