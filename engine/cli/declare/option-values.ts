import { InvalidArgumentError } from 'commander'

/** A positive whole number that a timer accepts as seconds. Otherwise commander's own error. */
export function positive(value: string): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number > 0 && Number.isSafeInteger(number * 1000)) return number
  throw new InvalidArgumentError('expected a whole number above 0.')
}

/** A whole number with at most six digits, including 0. Otherwise commander's own error. */
export function count(value: string): number {
  if (/^\d{1,6}$/.test(value)) return Number(value)
  throw new InvalidArgumentError('expected a whole number.')
}

/** A positive amount of US dollars. Otherwise commander's own error. */
export function dollars(value: string): number {
  if (/^\d*\.?\d+$/.test(value) && Number(value) > 0) return Number(value)
  throw new InvalidArgumentError('expected an amount of US dollars above 0.')
}

/** The values of an option that may be given again. */
export function another(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
