/** Schemas that MCP servers send and validators understand, but that some provider refuses, each with arguments that fit it. */
export const oddSchemas: readonly {
  readonly name: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly fits: Readonly<Record<string, unknown>>
}[] = [
  { name: 'nothing', schema: {}, fits: {} },
  { name: 'no_properties', schema: { type: 'object' }, fits: {} },
  { name: 'null_properties', schema: { type: 'object', properties: null, required: null }, fits: {} },
  { name: 'null_property', schema: { type: 'object', properties: { a: null, b: true, c: {} } }, fits: { c: 1 } },
  { name: 'list', schema: { type: 'object', properties: { a: { type: 'array' } } }, fits: { a: [1] } },
  {
    name: 'lists_below',
    schema: {
      type: 'object',
      properties: {
        a: { type: ['array', 'null'] },
        b: { type: 'object', properties: { c: { anyOf: [{ type: 'array' }, { type: 'string' }] } } },
        d: { type: 'array', items: { type: 'array', items: true } },
        e: { type: 'object', additionalProperties: { type: 'array' } },
      },
    },
    fits: { a: null, d: [[1]] },
  },
  {
    name: 'tuple',
    schema: {
      type: 'object',
      properties: {
        a: { type: 'array', items: [{ type: 'number' }, { type: 'string' }] },
        b: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] },
      },
    },
    fits: { a: [1, 'x'], b: [1, 2] },
  },
  {
    name: 'any_of',
    schema: {
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' }, c: { type: 'string' } }, required: ['a', 'c'] },
        {
          properties: { b: { type: 'number' }, c: { type: 'number' } },
          required: ['b', 'c'],
          additionalProperties: false,
        },
      ],
    },
    fits: { a: 'x', c: 'y' },
  },
  {
    name: 'one_of_beside',
    schema: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      additionalProperties: false,
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    fits: { b: 'x' },
  },
  {
    name: 'all_of_refs',
    schema: {
      $defs: {
        A: { type: 'object', properties: { a: { $ref: '#/$defs/B' } }, required: ['a'] },
        B: { enum: ['x', 'y'] },
      },
      allOf: [{ $ref: '#/$defs/A' }, { properties: { b: { type: 'array' } } }],
    },
    fits: { a: 'x' },
  },
  {
    name: 'root_ref',
    schema: { $ref: '#/definitions/A', definitions: { A: { type: 'object', properties: { a: { type: 'string' } } } } },
    fits: { a: 'x' },
  },
  {
    name: 'lost_ref',
    schema: { type: 'object', properties: { a: { $ref: '#/$defs/Gone' }, b: { $ref: 'https://example.com/b.json' } } },
    fits: { a: 1 },
  },
  {
    name: 'refs_into_root',
    schema: {
      anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { $ref: '#/anyOf/0/properties/a' } } }],
    },
    fits: { b: 'x' },
  },
  { name: 'not_an_object', schema: { type: 'string' }, fits: {} },
  {
    name: 'nullable',
    schema: { type: ['object', 'null'], properties: { a: { enum: [1, 'x', null] } } },
    fits: { a: 1 },
  },
  {
    name: 'wrong_kinds',
    schema: {
      type: 'object',
      properties: {
        a: { type: 'any', required: true, description: null },
        b: { type: 'number', exclusiveMinimum: true, minimum: '0' },
        c: { type: 'string', enum: [], anyOf: [] },
      },
      required: ['a', 'z', 7],
    },
    fits: { a: 'x' },
  },
  {
    name: 'names',
    schema: {
      type: 'object',
      properties: {
        'file path': { type: 'string' },
        file_path: { type: 'string' },
        größe: { type: 'number' },
        ['x'.repeat(70)]: { type: 'string' },
        '': { type: 'string' },
        'deep list': { type: 'array', items: { type: 'object', properties: { 'a/b': { type: 'string' } } } },
        free: { type: 'object', additionalProperties: { type: 'string' } },
      },
      required: ['file path'],
    },
    fits: { 'file path': 'x', file_path: 'y', größe: 1, 'deep list': [{ 'a/b': 'z' }], free: { 'a/b': 'stays' } },
  },
]
