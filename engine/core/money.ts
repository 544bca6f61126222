/**
 * Money is counted in whole millionths of a US dollar, so that sums and comparisons are exact: sums of fractions of a dollar aren't, and a budget that compares
 * them with zero may never find that nothing is reserved any more. Formats for users keep dollars.
 */
export type Micros = number & { readonly micros: true }

/** No money. */
export const nothing = 0 as Micros

/** Converts US dollars to the nearest whole number of millionths. */
export function microsOf(dollars: number): Micros {
  return Math.round(dollars * 1e6) as Micros
}

/** Rounds up to a whole number of millionths. Noise of the calculation, below a millionth of a millionth, isn't rounded up. */
export function microsAtLeast(millionths: number): Micros {
  return Math.ceil(Number(millionths.toFixed(6))) as Micros
}

/** Converts millionths to US dollars. */
export function dollarsOf(micros: Micros): number {
  return micros / 1e6
}

/** Adds amounts of millionths. */
export function addMicros(...amounts: readonly Micros[]): Micros {
  return amounts.reduce((sum, amount) => (sum + amount) as Micros, nothing)
}

/** Subtracts amounts of millionths from the first one. */
export function takeMicros(from: Micros, ...amounts: readonly Micros[]): Micros {
  return (from - addMicros(...amounts)) as Micros
}

/** Adds amounts of US dollars exactly, to the millionth. */
export function sumDollars(amounts: readonly number[]): number {
  return dollarsOf(addMicros(...amounts.map(microsOf)))
}
