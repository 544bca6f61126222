/**
 * The JSON Schemas of what built-in tools take, by name, as far as they are known already: the build derives and bundles them, which every
 * run would have to do before its first request. Run from sources, none is known.
 */
export function preparedSchemas(): Readonly<Record<string, Record<string, unknown>>> {
  return {}
}
