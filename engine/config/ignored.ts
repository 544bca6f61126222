/** Configuration that was found and does not count. */
export type Ignored = {
  /** The file it is in. */
  readonly source: string
  /** The keys; none means the whole file. Safe to print: it may be made from untrusted text. */
  readonly keys: readonly string[]
  readonly reason: string
}

/** How much of a stranger's file is repeated. */
const maxKeys = 20
const maxCharacters = 80

/** Names ignored keys; empty where there are none. */
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

/**
 * Names a file that is ignored because of a fault.
 *
 * @param sentence what is wrong; where it begins with `path:line:column:`, that is the position given
 */
export function ignoredForFault(path: string, sentence: string): Ignored {
  const place = sentence.startsWith(`${path}:`) ? /^:\d+:\d+/.exec(sentence.slice(path.length))?.[0] : undefined
  if (place === undefined) return ignoredWhole(path, sentence)
  return ignoredWhole(`${path}${place}`, sentence.slice(path.length + place.length + 2))
}

function printable(text: string, most: number = maxCharacters): string {
  const harmless = text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?')
  return harmless.length > most ? `${harmless.slice(0, most)}…` : harmless
}
