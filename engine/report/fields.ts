/** The fields of a JSON object from a file. None is trusted: the file may be truncated, forged, or written by another version. */
export type Fields = Readonly<Record<string, unknown>>

/** The fields of an object; an empty object for any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** The value, if it is a string; otherwise undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The value, if it is a number; otherwise undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The entries, if the value is an array; otherwise none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The strings in an array. Other entries are dropped. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).flatMap((each) => textOf(each) ?? [])
}
