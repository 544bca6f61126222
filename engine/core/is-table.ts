/** Whether a value is an object with keys, such as a TOML table or a JSON object, and not a list or null. */
export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
