import { expect, test } from 'vitest'
import { commonSchema } from '../../../engine/models/common-schema.ts'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { ungrammatical } from '../../support/conformance/llama-schema.ts'

test.each(
  builtInTools.flatMap(({ name, declaration }) => (declaration === undefined ? [] : [[name, declaration] as const])),
)('llama.cpp can make a grammar of the input of %s', (_, { parameters }) => {
  expect(ungrammatical(commonSchema(parameters))).toBeUndefined()
})

test.each<readonly [string, Record<string, unknown>, Record<string, unknown>]>([
  ['nothing', {}, {}],
  ['a lookahead', { a: { type: 'string', pattern: '^(?!x).*$' } }, { a: { type: 'string' } }],
  [
    'a length',
    { a: { type: 'string', maxLength: 2000 } },
    { a: { type: 'string', description: 'At most 2000 characters.' } },
  ],
  [
    'a length beside words',
    { a: { type: 'array', description: 'All.', items: { type: 'string', format: 'uri' }, maxItems: 9 } },
    { a: { type: 'array', description: 'All. At most 9.', items: { type: 'string' } } },
  ],
  [
    'meaningful bounds, and others',
    { a: { type: 'integer', minimum: 0, maximum: 2 ** 53 } },
    { a: { type: 'integer', minimum: 0 } },
  ],
])('%s is reduced to what all servers understand', (_, before, properties) => {
  const schema = { type: 'object', properties: before }
  expect(commonSchema(schema)).toEqual({ type: 'object', properties })
  expect(commonSchema(schema)).toBe(commonSchema(schema))
})

test('a value of any kind stays unrestricted', () => {
  const any = { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] }
  const schema = { properties: { a: {}, b: true, c: { not: {} } }, additionalProperties: {} }
  expect(commonSchema(schema)).toEqual({
    type: 'object',
    properties: { a: any, b: any, c: any },
    additionalProperties: true,
  })
})
