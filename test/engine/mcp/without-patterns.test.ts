import { expect, test } from 'vitest'
import { compileJsonSchema } from '../../../engine/core/json-schema.ts'
import { withoutPatterns } from '../../../engine/mcp/without-patterns.ts'

/** The problems that a schema without its regular expressions finds in a value. */
function problems(schema: Readonly<Record<string, unknown>>, value: unknown): readonly string[] {
  const compiled = compileJsonSchema(withoutPatterns(schema) as typeof schema)
  if ('error' in compiled) throw new Error(compiled.error)
  return compiled(value)
}

test('a schema loses its regular expressions, but not arguments that are called like the keywords', () => {
  const schema = {
    type: 'object',
    properties: {
      pattern: { type: 'string', pattern: '^(a+)+$' },
      patternProperties: { type: 'number' },
      definitions: { const: { pattern: 'kept' } },
    },
    required: ['pattern'],
    additionalProperties: false,
  }
  expect(withoutPatterns(schema)).toEqual({
    ...schema,
    properties: { ...schema.properties, pattern: { type: 'string' } },
  })
  expect(problems(schema, { pattern: 'b', patternProperties: 1 })).toEqual([])
  expect(problems(schema, { patternProperties: 'x' })).toHaveLength(2)
})

test('a schema that names arguments by regular expressions accepts arguments of all names', () => {
  const schema = { type: 'object', patternProperties: { '^x': { type: 'number' } }, additionalProperties: false }
  expect(problems(schema, { x1: 1, y: 2 })).toEqual([])
  expect(problems({ anyOf: [schema] }, { x1: 1 })).toEqual([])
})
