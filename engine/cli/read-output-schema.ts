import { resolve } from 'node:path'
import type { OutputSchema } from '../run/output-contract.ts'
import { readUserText } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'

const largestSchema = 16 * 1024 * 1024

/**
 * Reads and compiles the schema of `--output-schema`.
 *
 * @throws UserError `usage`, which names the file, if the file can't be read or isn't a JSON Schema
 */
export async function readOutputSchema(file: string): Promise<OutputSchema> {
  const path = resolve(file)
  const refuse = (why: string, cause?: unknown): UserError =>
    new UserError('usage', `--output-schema ${path}: ${why}`, { cause })
  return schemaOf(parse(path, refuse), `--output-schema ${path}`)
}

/**
 * Compiles a JSON Schema.
 *
 * @param from where the schema is given, for messages
 * @throws UserError `usage` if it isn't a JSON Schema
 */
export async function schemaOf(schema: unknown, from: string): Promise<OutputSchema> {
  // `ajv` is loaded only if it is needed, because loading it takes longer than the rest of the startup.
  const { compileJsonSchema } = await import('../core/json-schema.ts')
  const validate = compileJsonSchema(schema)
  if (typeof validate === 'function') return { schema: schema as OutputSchema['schema'], validate }
  throw new UserError('usage', `${from}: not a JSON Schema: ${validate.error}`)
}

function parse(path: string, refuse: (why: string, cause: unknown) => UserError): unknown {
  const text = readUserText(path, largestSchema, `--output-schema ${path}`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuse(`not JSON: ${(error as Error).message}`, error)
  }
}
