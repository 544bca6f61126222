/**
 * Encoded first programs of sandboxes, in base64, by `keyOfForm`. The build includes those that most commands need (see `usualStarts`), so that no
 * run has to encode them before its first command. It is empty when this program runs from its sources.
 */
export function preparedStarts(): Readonly<Record<string, string>> {
  return {}
}
