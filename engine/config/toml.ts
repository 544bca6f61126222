import { parse, stringify, TomlError } from 'smol-toml'
import { UserError } from '../core/user-error.ts'

/**
 * Parses a TOML document.
 *
 * @param source the file or option that messages name as the source
 * @throws UserError `usage` with `source:line:column` if the text isn't TOML 1.0
 */
export function parseToml(text: string, source: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const what = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '')
    throw new UserError('usage', `${source}:${error.line}:${error.column}: not valid TOML: ${what}`, { cause: error })
  }
}

/** Parses a TOML document. Returns undefined if it is invalid. */
export function tryParseToml(text: string): Record<string, unknown> | undefined {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof TomlError) return undefined
    throw error
  }
}

/** Renders a table as a TOML document, without the comments that it had. */
export function formatToml(table: Readonly<Record<string, unknown>>): string {
  return stringify(table)
}

/** Appends a table to a TOML document, whose comments stay. */
export function withTable(text: string, table: string): string {
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text === '' ? '' : '\n'}${table}`
}

/** Parses one TOML value. Returns undefined if it is invalid. */
export function parseTomlValue(text: string): unknown {
  return tryParseToml(`value = ${text}`)?.['value']
}

/** The maximum number of lines that are searched, because each line costs a parse of everything before it. */
const maxSearchedLines = 2000

/**
 * Returns the line, counted from 1, on which a key of a valid TOML document is set; undefined if the document doesn't set the key, or sets it too far
 * down. The parser gives no positions, so this function looks for the shortest beginning of the document that contains the key. It parses once for
 * each line, so use it only for messages and lists.
 */
export function lineOf(text: string, path: readonly string[]): number | undefined {
  const lines = text.split('\n').slice(0, maxSearchedLines)
  let whole = 0
  for (let count = 1; count <= lines.length; count++) {
    const document = tryParseToml(lines.slice(0, count).join('\n'))
    if (document === undefined) continue
    if (isThere(document, path)) return firstMeant(lines, whole, count)
    whole = count
  }
  return undefined
}

/** Returns the line on which a value starts: the first line in the range that is neither empty nor a comment. */
function firstMeant(lines: readonly string[], from: number, to: number): number {
  const index = lines.slice(from, to).findIndex((line) => !/^\s*(?:#.*)?$/.test(line))
  return from + Math.max(0, index) + 1
}

function isThere(document: unknown, path: readonly string[]): boolean {
  let value = document
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
    value = (value as Record<string, unknown>)[key]
  }
  return true
}
