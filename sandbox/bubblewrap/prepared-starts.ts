/**
 * Encoded first programs of a sandbox, in base64, by `keyOfForm`: the build bundles those that most commands need (see `usualStarts`), so that no run
 * has to encode them before its first command. It is empty when the program runs from its sources.
 */
export function preparedStarts(): Readonly<Record<string, string>> {
  return {}
}
