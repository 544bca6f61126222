/**
 * Returns the JSON Schemas of the built-in tools' inputs, by tool name. The build replaces this function with one that contains the schemas, so that
 * no run has to derive them before its first request. If the program runs from its sources, the result is empty.
 */
export function preparedSchemas(): Readonly<Record<string, Record<string, unknown>>> {
  return {}
}
