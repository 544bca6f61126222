import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { UserError } from '../user-error.ts'
import { locateInJson, positionAt } from './locate-json.ts'

/** A value of a JSON file, with what names its places. */
type JsonFile = {
  readonly value: unknown
  /** `file:line:column` of the value at a path. */
  readonly place: (path: readonly PropertyKey[]) => string
}

/**
 * Reads a JSON file that a person wrote.
 *
 * @throws UserError `usage` with `file:line:column` where it can't be read or isn't JSON
 */
export function readJson(path: string): JsonFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch (error) {
    throw new UserError('usage', `${path}: can't be read: ${(error as Error).message}`, { cause: error })
  }
  const place = (at: { readonly line: number; readonly column: number }): string => `${path}:${at.line}:${at.column}`
  try {
    return { value: JSON.parse(text), place: (keys) => place(locateInJson(text, keys)) }
  } catch (error) {
    const message = (error as Error).message
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    throw new UserError('usage', `${place(positionAt(text, offset))}: not valid JSON: ${message}`, { cause: error })
  }
}

/**
 * Checks a part of a JSON file against a schema.
 *
 * @param at the path of that part in the file
 * @throws UserError `usage` naming `file:line:column`, the key and what was expected, for every fault there is
 */
export function checkJson<Schema extends z.ZodType>(
  schema: Schema,
  file: JsonFile,
  part: unknown,
  at: readonly PropertyKey[],
): z.output<Schema> {
  const result = schema.safeParse(part)
  if (result.success) return result.data
  const lines = result.error.issues.map((issue) => {
    const path = [...at, ...issue.path]
    return `${file.place(path)}: '${path.join('.')}': ${issue.message}`
  })
  throw new UserError('usage', lines.join('\n'))
}
