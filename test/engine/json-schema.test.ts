import { expect, test } from 'vitest'
import { compileJsonSchema } from '../../engine/core/json-schema.ts'

function errorsOf(schema: object, value: unknown): readonly string[] {
  const validate = compileJsonSchema(schema)
  if (typeof validate !== 'function') throw new Error(validate.error)
  return validate(value)
}

test('every invalid place is named', () => {
  const schema = {
    properties: { a: { type: 'integer' }, b: { items: { maxLength: 2 } } },
    required: ['c'],
  }
  expect(errorsOf(schema, { a: 'x', b: ['ok', 'long'] })).toEqual([
    "/: must have required property 'c'",
    '/a: must be integer',
    '/b/1: must NOT have more than 2 characters',
  ])
})

test.each([
  ['date-time', '2026-11-21T07:00:00Z', 'yesterday'],
  ['date', '2026-11-21', '21.11.2026'],
  ['email', 'a@example.com', 'a@'],
  ['uri', 'https://example.com/a', 'no uri'],
  ['uuid', '01a1fbfd-a350-7cb0-97a3-2607af107aa9', '01a1'],
  ['ipv4', '127.0.0.1', '127.0.0.256'],
])('the format %s is checked', (format, right, wrong) => {
  expect(errorsOf({ format }, right)).toEqual([])
  expect(errorsOf({ format }, wrong)).toEqual([`/: must match format "${format}"`])
})

test.each([
  ['http://json-schema.org/draft-07/schema#', { items: [{ type: 'string' }] }],
  ['https://json-schema.org/draft/2019-09/schema', { items: [{ type: 'string' }] }],
  ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'string' }] }],
  [undefined, { prefixItems: [{ type: 'string' }] }],
])('the draft %s is read as what it is', ($schema, schema) => {
  expect(errorsOf($schema === undefined ? schema : { $schema, ...schema }, [7])).toEqual(['/0: must be string'])
})
