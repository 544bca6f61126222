/**
 * The JSON Schemas for the input of built-in tools, by name: the build derives and bundles them, so that no run has to do it before its
 * first request. Run from sources, this is empty.
 */
export function preparedSchemas(): Readonly<Record<string, Record<string, unknown>>> {
  return {}
}
