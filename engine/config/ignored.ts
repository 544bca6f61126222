/** Configuration that was found and does not count. */
export type Ignored = {
  /** The file it is in. */
  readonly source: string
  /** The keys; none means the file as a whole. Safe to print: made from what a stranger may have written. */
  readonly keys: readonly string[]
  readonly reason: string
}

/** How much of a stranger's file is repeated. */
const maxKeys = 20
const maxCharacters = 80

/** Names keys that don't count; nothing where there are none. */
export function ignoring(source: string, keys: readonly string[], reason: string): readonly Ignored[] {
  if (keys.length === 0) return []
  const shown = keys.slice(0, maxKeys).map((key) => printable(key))
  const rest = keys.length > maxKeys ? [`and ${keys.length - maxKeys} more`] : []
  return [{ source: printable(source, Infinity), keys: [...shown, ...rest], reason }]
}

/** Names a file that doesn't count. */
export function ignoredWhole(source: string, reason: string): Ignored {
  return { source: printable(source, Infinity), keys: [], reason }
}

function printable(text: string, most: number = maxCharacters): string {
  const harmless = text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?')
  return harmless.length > most ? `${harmless.slice(0, most)}…` : harmless
}
