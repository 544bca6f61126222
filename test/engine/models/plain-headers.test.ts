import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlainHeaders } from '../../../engine/models/plain-headers.ts'

const names = fc.constantFrom('a', 'A', 'content-type', 'Content-Type', 'x-b', 'z')
const values = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t', ',', '\u00e9'), maxLength: 5 })
const step = fc.oneof(
  fc.record({ act: fc.constantFrom('append' as const, 'set' as const), name: names, value: values }),
  fc.record({ act: fc.constant('delete' as const), name: names, value: fc.constant('') }),
)

test('headers behave like those of the standard', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const [ours, standard] = [new PlainHeaders(), new Headers()]
      for (const { act, name, value } of steps) for (const headers of [ours, standard]) headers[act](name, value)
      expect([...ours]).toEqual([...standard])
      for (const name of ['A', 'content-type', 'absent']) {
        expect([ours.get(name), ours.has(name)]).toEqual([standard.get(name), standard.has(name)])
      }
      expect([...new PlainHeaders(ours)]).toEqual([...new Headers(standard)])
    }),
  )
})

test.each([
  ['a b', 'c'],
  ['', 'c'],
  ['a', 'b\nc'],
  ['a', 'b\0c'],
])('the header %j: %j is refused, as the standard does', (name, value) => {
  for (const make of [PlainHeaders, Headers]) expect(() => new make([[name, value]])).toThrow(TypeError)
})
