/** Whether a value is an object with keys, as in TOML or JSON, and neither a list nor null. */
export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
