import { Ajv, type ErrorObject, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as z from 'zod'

/** Returns one sentence for each problem with a value, and an empty list if the value matches the schema. */
export type Validate = (value: unknown) => readonly string[]

const options: Options = {
  allErrors: true,
  // Keywords that JSON Schema doesn't define are treated as annotations, as its specification requires.
  strict: false,
  // ajv's logger writes to stdout, which is reserved for the result.
  logger: false,
  formats: {
    'date-time': passes(z.iso.datetime({ offset: true })),
    date: passes(z.iso.date()),
    time: passes(z.iso.time()),
    duration: passes(z.iso.duration()),
    email: passes(z.email()),
    uri: passes(z.url()),
    uuid: passes(z.uuid()),
    ipv4: passes(z.ipv4()),
    ipv6: passes(z.ipv6()),
  },
}

/** The supported drafts, by the value of `$schema`. The newest is the default. */
const drafts = [
  { named: /draft\/2020-12/, create: () => new Ajv2020(options) },
  { named: /draft\/2019-09/, create: () => new Ajv2019(options) },
  { named: /draft-0[67]/, create: () => new Ajv(options) },
] as const

/**
 * Compiles a JSON Schema (draft 6, 7, 2019-09 or 2020-12) to a validation function. Only this file imports ajv.
 *
 * @returns the function, or a sentence that says what is wrong with the schema and where
 */
export function compileJsonSchema(schema: unknown): Validate | { readonly error: string } {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return { error: 'expected an object' }
  const named = '$schema' in schema ? String(schema.$schema) : 'draft/2020-12'
  const draft = drafts.find((one) => one.named.test(named))
  if (draft === undefined) return { error: `/$schema: '${named}' is not supported: use draft 6, 7, 2019-09 or 2020-12` }
  const ajv = draft.create()
  if (ajv.validateSchema(schema) !== true) return { error: (ajv.errors ?? []).map(sentence).join('; ') }
  try {
    const validate = ajv.compile(schema)
    return (value) => {
      if (validate(value) === true) return []
      return [...new Set((validate.errors ?? []).map(sentence))]
    }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function passes(schema: z.ZodType): (value: string) => boolean {
  return (value) => schema.safeParse(value).success
}

function sentence({ instancePath, keyword, message = 'is wrong', params }: ErrorObject): string {
  const details = params as Readonly<Record<string, unknown>>
  const detail = { additionalProperties: 'additionalProperty', enum: 'allowedValues', const: 'allowedValue' }[keyword]
  const what = detail === undefined ? '' : `: ${JSON.stringify(details[detail])}`
  return `${instancePath === '' ? '/' : instancePath}: ${message}${what}`
}
