/**
 * Returns already encoded first programs of sandboxes, in base64, under the keys that `keyOfForm` returns. The build includes the programs
 * that most commands need (see `usualStarts`), so that no run has to encode them before its first command. The table is empty when this program runs
 * from its sources.
 */
export function preparedStarts(): Readonly<Record<string, string>> {
  return {}
}
