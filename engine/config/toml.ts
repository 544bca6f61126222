import { parse, TomlError } from 'smol-toml'
import { UserError } from '../user-error.ts'

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

/** One TOML value, or undefined where the text is none. */
export function parseTomlValue(text: string): unknown {
  try {
    return parse(`value = ${text}`)['value']
  } catch (error) {
    if (error instanceof TomlError) return undefined
    throw error
  }
}
