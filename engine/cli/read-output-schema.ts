import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OutputSchema } from '../run/output-contract.ts'
import { UserError } from '../core/user-error.ts'

/**
 * Reads and compiles the schema of `--output-schema`.
 *
 * @throws UserError `usage`, which names the file, if the file can't be read or isn't a JSON Schema
 */
export async function readOutputSchema(file: string): Promise<OutputSchema> {
  const path = resolve(file)
  const refuse = (why: string, cause?: unknown): UserError =>
    new UserError('usage', `--output-schema ${path}: ${why}`, { cause })
  const schema = parse(path, refuse)
  // `ajv` is loaded only if it is needed, because loading it takes longer than the rest of the startup.
  const { compileJsonSchema } = await import('../core/json-schema.ts')
  const validate = compileJsonSchema(schema)
  if (typeof validate === 'function') return { schema: schema as OutputSchema['schema'], validate }
  throw refuse(`not a JSON Schema: ${validate.error}`)
}

function parse(path: string, refuse: (why: string, cause: unknown) => UserError): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw refuse(`can't be read: ${(error as Error).message}`, error)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuse(`not JSON: ${(error as Error).message}`, error)
  }
}
