import { parse, TomlError } from 'smol-toml'
import { UserError } from '../core/user-error.ts'

/**
 * A TOML document as plain data.
 *
 * @param source what a message names as the document's place: a file or an option
 * @throws UserError `usage` with `source:line:column` when the text is not TOML 1.0
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

/** A TOML document as plain data, or undefined for invalid text. */
export function tryParseToml(text: string): Record<string, unknown> | undefined {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof TomlError) return undefined
    throw error
  }
}

/** One TOML value, or undefined for invalid text. */
export function parseTomlValue(text: string): unknown {
  return tryParseToml(`value = ${text}`)?.['value']
}

/** Further down no line is looked for: each costs a parse of all before it. */
const maxSearchedLines = 2000

/**
 * The line, counted from 1, on which a key of a valid TOML document is set; undefined where it isn't in there, or too far down. The parser
 * gives no positions, so this finds the shortest part of the document that contains the key. That costs a parse for each line: use it for
 * messages and lists only.
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

/** A value over several lines is whole on its last one, and begins on the first that is neither empty nor a comment. */
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
