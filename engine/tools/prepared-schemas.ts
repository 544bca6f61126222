/**
 * The JSON Schemas of the built-in tools' inputs, by tool name. The build replaces this function with one that returns them, so that no run has to derive them
 * before its first request. If the program runs from its sources, there are none.
 */
export function preparedSchemas(): Readonly<Record<string, Record<string, unknown>>> {
  return {}
}
