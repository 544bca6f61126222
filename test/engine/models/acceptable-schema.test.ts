import { expect, test } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { acceptableSchema } from '../../../engine/models/acceptable-schema.ts'
import { commonSchema } from '../../../engine/models/common-schema.ts'
import { ungrammatical } from '../../support/conformance/llama-schema.ts'
import { unacceptable } from '../../support/conformance/tool-schema.ts'
import { oddSchemas } from '../../support/odd-schemas.ts'

test.each(oddSchemas)(
  'the schema $name is made acceptable for every provider, in the same form each time',
  ({ schema }) => {
    const made = acceptableSchema(schema)
    expect(unacceptable(made.schema)).toBeUndefined()
    expect(ungrammatical(commonSchema(made.schema))).toBeUndefined()
    expect(acceptableSchema(schema)).toBe(made)
    const again = acceptableSchema(made.schema)
    expect([again.schema, again.isRenamed]).toEqual([made.schema, false])
  },
)

test.each(oddSchemas)('arguments for $name have the tool’s own names after both directions', ({ schema, fits }) => {
  const { toOwn, toSent, schema: sent } = acceptableSchema(schema)
  const there = toSent(fits) as Record<string, unknown>
  expect(toOwn(there)).toEqual(fits)
  const properties = Object.keys(sent['properties'] as object)
  expect(Object.keys(there).filter((name) => !properties.includes(name))).toEqual([])
})

test.each(
  builtInTools.flatMap(({ name, declaration }) => (declaration === undefined ? [] : [[name, declaration] as const])),
)('the schema of %s is sent as it is', (_, { parameters }) => {
  expect(acceptableSchema(parameters).schema).toBe(parameters)
})

test('the properties of all variants are offered, and those that each variant requires are required', () => {
  const { schema } = acceptableSchema({
    properties: { kind: { type: 'string' } },
    required: ['kind'],
    anyOf: [
      { properties: { a: { type: 'string' }, n: { type: 'number' } }, required: ['n', 'a'] },
      { properties: { b: { type: 'string' }, n: { type: 'string' } }, required: ['n'] },
    ],
  })
  expect(schema).toEqual({
    type: 'object',
    properties: {
      kind: { type: 'string' },
      a: { type: 'string' },
      n: { anyOf: [{ type: 'number' }, { type: 'string' }] },
      b: { type: 'string' },
    },
    required: ['kind', 'n'],
  })
})

test('a name is only changed where it is the name of a property', () => {
  const { toOwn, toSent } = acceptableSchema({
    properties: { 'a b': { type: 'string' }, free: { type: 'object' }, list: { items: { properties: { 'a b': {} } } } },
  })
  const own = { 'a b': 'x', free: { a_b: 1 }, list: [{ 'a b': 1 }, 7], other: null }
  expect(toSent(own)).toEqual({ a_b: 'x', free: { a_b: 1 }, list: [{ a_b: 1 }, 7], other: null })
  expect(toOwn(toSent(own))).toEqual(own)
  expect([toOwn(null), toOwn('x'), toOwn([])]).toEqual([null, 'x', []])
})

test('a schema that contains itself, or is deeper than any provider allows, does no harm', () => {
  const tree = { $ref: '#', anyOf: [{ $ref: '#' }], properties: { 'a b': { $ref: '#' } } }
  const { schema, toSent } = acceptableSchema(tree)
  expect(unacceptable(schema)).toBeUndefined()
  expect(toSent({ 'a b': { 'a b': {} } })).toEqual({ a_b: { a_b: {} } })
  const deep = JSON.parse(`${'{"properties":{"a":'.repeat(3000)}{}${'}}'.repeat(3000)}`) as Record<string, unknown>
  expect(unacceptable(acceptableSchema(deep).schema)).toBeUndefined()
})
