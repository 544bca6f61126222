import * as z from 'zod'
import { readUserText } from './read-plain-file.ts'
import { UserError } from './user-error.ts'
import { locateInJson, positionAt } from './locate-json.ts'

/** The value of a JSON file, with a function that locates parts of it. */
type JsonFile = {
  readonly value: unknown
  /** Returns `file:line:column` of the value at a path. */
  readonly place: (path: readonly PropertyKey[]) => string
}

/**
 * Reads a JSON file that a person wrote.
 *
 * @throws UserError `usage` with the path if the file can't be read, and with `file:line:column` if it isn't JSON
 */
export function readJson(path: string): JsonFile {
  return parseJson(readUserText(path, largestFile), path)
}

/**
 * Parses JSON that a person wrote.
 *
 * @param path what messages call it
 * @throws UserError `usage` with `path:line:column` if it isn't JSON
 */
export function parseJson(text: string, path: string): JsonFile {
  const place = (at: { readonly line: number; readonly column: number }): string => `${path}:${at.line}:${at.column}`
  try {
    return { value: JSON.parse(text), place: (keys) => place(locateInJson(text, keys)) }
  } catch (error) {
    const message = (error as Error).message
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
    throw new UserError('usage', `${place(positionAt(text, offset))}: not valid JSON: ${message}`, { cause: error })
  }
}

const largestFile = 16 * 1024 * 1024

/**
 * Checks a part of a JSON file against a schema.
 *
 * @param at the path of that part in the file
 * @throws UserError `usage` that gives `file:line:column`, the key and what was expected, for every problem
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
