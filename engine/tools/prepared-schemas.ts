/**
 * The JSON Schemas of the built-in tools' inputs, by tool name. The build derives and bundles them, so that no run has to derive them
 * before its first request. When running from sources, there are none.
 */
export function preparedSchemas(): Readonly<Record<string, Record<string, unknown>>> {
  return {}
}
