/** The number of further items, with their noun: `1 more line`, `2 more lines`. */
export function more(count: number, noun: string): string {
  return `${count} more ${count === 1 ? noun : `${noun}s`}`
}
