/** Configuration that was found but isn't used. */
export type Ignored = {
  /** The file that contains the ignored configuration. */
  readonly source: string
  /** The ignored keys, shortened if there are many. Empty: the whole file is ignored. Safe to print: control characters are replaced. */
  readonly keys: readonly string[]
  readonly reason: string
}

/** The maximum number of keys that one notice about a file shows. The file may be untrusted. */
const maxKeys = 20
/** The maximum length of a shown key, in characters. */
const maxCharacters = 80

/** Describes ignored keys. Returns an empty list if there are none. */
export function ignoring(source: string, keys: readonly string[], reason: string): readonly Ignored[] {
  if (keys.length === 0) return []
  const shown = keys.slice(0, maxKeys).map((key) => printable(key))
  const rest = keys.length > maxKeys ? [`and ${keys.length - maxKeys} more`] : []
  return [{ source: printable(source, Infinity), keys: [...shown, ...rest], reason }]
}

/** Describes a file that is ignored as a whole. */
export function ignoredWhole(source: string, reason: string): Ignored {
  return { source: printable(source, Infinity), keys: [], reason }
}

/**
 * Describes a file that is ignored because of an error.
 *
 * @param sentence the error; if it begins with `path:line:column:`, this position is shown
 */
export function ignoredForFault(path: string, sentence: string): Ignored {
  const place = sentence.startsWith(`${path}:`) ? /^:\d+:\d+/.exec(sentence.slice(path.length))?.[0] : undefined
  if (place === undefined) return ignoredWhole(path, sentence)
  return ignoredWhole(`${path}${place}`, sentence.slice(path.length + place.length + 2))
}

/** Describes ignored configuration in one line. */
export function describeIgnored({ source, keys, reason }: Ignored): string {
  return `ignored: ${source}${keys.length === 0 ? '' : `: ${keys.join(', ')}`} (${reason})`
}

function printable(text: string, most: number = maxCharacters): string {
  const harmless = text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?')
  return harmless.length > most ? `${harmless.slice(0, most)}…` : harmless
}
