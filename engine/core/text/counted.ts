/**
 * Returns a number with its noun: `1 file`, `2 files`.
 *
 * @param more the plural; default: the noun with an `s`
 * @internal
 */
export function counted(count: number, noun: string, more: string = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : more}`
}
