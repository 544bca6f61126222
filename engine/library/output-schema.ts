import * as z from 'zod'
import { UserError } from '../core/user-error.ts'
import type { OutputSchema } from '../run/output-contract.ts'
import type { JsonSchema } from './agent-options.ts'

/** A schema in the two forms that an agent needs: the contract that final messages must meet, and a function that parses such a message. */
export type FinalOutput<Output> = {
  readonly contract: OutputSchema
  /** Parses a final message that matches the schema. */
  readonly read: (finalMessage: string) => Output
}

/**
 * Prepares a schema, so that final messages can be checked against it.
 *
 * @throws UserError `usage` for an invalid JSON Schema, and for a zod schema that JSON Schema can't express
 */
export async function readSchema<Output>(schema: z.ZodType<Output> | JsonSchema): Promise<FinalOutput<Output>> {
  if (isZod(schema)) return { contract: contractOf(schema), read: (text) => schema.parse(JSON.parse(text)) }
  // This loads ajv, which takes as long as the rest of the start-up, so it is done only for a JSON Schema.
  const { compileJsonSchema } = await import('../core/json-schema.ts')
  const validate = compileJsonSchema(schema)
  if (typeof validate !== 'function') throw new UserError('usage', `outputSchema: not a JSON Schema: ${validate.error}`)
  // A JSON Schema has no static type: the caller gets plain JSON.
  return { contract: { schema, validate }, read: (text) => JSON.parse(text) as Output }
}

/** Whether a schema is a zod schema. The caller may use a different copy of zod, so `instanceof` can't tell. */
function isZod<Output>(schema: z.ZodType<Output> | JsonSchema): schema is z.ZodType<Output> {
  return '_zod' in schema
}

function contractOf(schema: z.ZodType): OutputSchema {
  return {
    schema: asJsonSchema(schema),
    validate: (value) => {
      const { error } = schema.safeParse(value)
      return (error?.issues ?? []).map(({ path, message }) => `/${path.map(String).join('/')}: ${message}`)
    },
  }
}

function asJsonSchema(schema: z.ZodType): JsonSchema {
  try {
    const { $schema: _, ...json } = z.toJSONSchema(schema, {
      io: 'input',
      override: ({ jsonSchema }) => {
        // zod drops unknown keys, but providers enforce a schema only if the schema forbids unknown keys.
        if (jsonSchema.type === 'object' && jsonSchema.properties !== undefined)
          jsonSchema.additionalProperties ??= false
      },
    })
    return json
  } catch (error) {
    throw new UserError('usage', `outputSchema: it can't be expressed in JSON Schema: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
