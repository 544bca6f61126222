import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { harmless as patchHarmless, harmlessJson as patchJson } from '../../../apply-patch/text/harmless.ts'
import { harmless, harmlessJson, harmlessLine } from '../../../engine/core/text/harmless.ts'
import { controlling, obeyed } from '../../support/ci-runners.ts'
import { tries } from '../../support/tries.ts'

const commands = [
  ...['::add-mask::x', '::stop-commands::t', '::error file=a::b', '##[group]x', '##vso[task.prependpath]/x'],
  ...['##vso[task.setvariable variable=a;]b', "##teamcity[buildStatus status='SUCCESS']", '###[x]', '####vso[x]'],
]
const before = ['', 'a ', ' ', '\t', '\u00a0\u3000', 'a\n', 'a\r', 'a\u2028', '\ufeff', '\u001b[1m', '\u200b', ':']
const hidden = commands.flatMap((command) => [
  command,
  command.replace('##', '#\u00ad#').replace('::', ':\u200d:'),
  command.replace('##', '##\u001b[0m').replace('::', '\u001b[0m::'),
  command.replace('vso', 'v\u200cso'),
])

describe.each([
  ['engine', harmless, harmlessJson],
  ['apply-patch', patchHarmless, patchJson],
])('text that %s prints', (_, clean, cleanJson) => {
  test('contains no command for a CI’s runner, wherever it stands', () => {
    for (const lead of before)
      for (const command of hidden) {
        const shown = clean(`${lead}${command}`)
        expect([JSON.stringify(shown), obeyed(shown)]).toEqual([JSON.stringify(shown), []])
      }
  })

  test('contains no control character and no direction mark', () => {
    const every = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join(' ')
    expect(clean(every)).not.toMatch(controlling)
  })

  test('is otherwise as it was, with what only looks like a command', () => {
    const plain = '## Title\n#include <a[1]>\na::b[c] std::vector\nخوش آمدید 👨‍👩‍👧 می‌روم\n- `x` # [link](y)\n\t::\n:x:y\n'
    expect(clean(plain)).toBe(plain)
  })

  test('as JSON says the same', () => {
    const piece = fc.constantFrom(
      '##',
      '#',
      '[',
      ']',
      'vso',
      ':',
      '::',
      '\n',
      '"',
      '\\',
      '\u202e',
      '\u009b',
      '\u00ad',
      ' ',
      'a',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.boolean(), (parts, isPretty) => {
        const value = { [parts.slice(0, 9).join('')]: [parts.join(''), { a: [] }] }
        const json = cleanJson(JSON.stringify(value, undefined, isPretty ? 2 : 0))
        expect(JSON.parse(json)).toEqual(value)
        expect(json).not.toMatch(/[\u007f-\u009f\u202e]/)
        expect(obeyed(json)).toEqual([])
      }),
      { numRuns: tries(3000) },
    )
  })

  test('holds for whatever is put together from the parts of commands', () => {
    const piece = fc.constantFrom(
      '##',
      '#',
      '[',
      'vso',
      'teamcity',
      ':',
      '::',
      '\n',
      '\r',
      ' ',
      '\t',
      '\u00ad',
      '\u200d',
      '\u001b[0m',
      'a',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
        expect(obeyed(clean(parts.join('')))).toEqual([])
      }),
      { numRuns: tries(20_000) },
    )
  })
})

test('a line remains one line', () => {
  expect(harmlessLine('a\nagent: FAKE\r\n::error::x')).toBe('a⏎agent: FAKE⏎::error::x')
})
