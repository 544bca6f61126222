/** Values from a file, none of which is trusted: it may be torn, foreign, or of another version. */
export type Fields = Readonly<Record<string, unknown>>

/** An object's fields; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** A text; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** A list's entries; none for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The texts of a list. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).flatMap((each) => textOf(each) ?? [])
}
