/**
 * First programs of a sandbox that are encoded already, in base64, by what `keyOfForm` says of them: the build bundles those that most commands
 * need (see `usualStarts`), which every run would have to encode before its first one. Run from sources, none is there.
 */
export function preparedStarts(): Readonly<Record<string, string>> {
  return {}
}
