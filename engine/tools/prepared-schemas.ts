/**
 * The JSON Schemas of what built-in tools take, by name, as far as they are known already: the build bundles them as it derives them, which would
 * take each run longer than asking its model. Run from sources, none is.
 */
export function preparedSchemas(): Readonly<Record<string, Record<string, unknown>>> {
  return {}
}
