import process from 'node:process'

/** How many cases a random search tries: with `SEARCH=full`, which `.ci/run` sets, as many as the test says; otherwise at most 200. */
export function tries(full: number): number {
  return process.env['SEARCH'] === 'full' ? full : Math.min(full, 200)
}
