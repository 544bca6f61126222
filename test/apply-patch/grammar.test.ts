/** The grammar that is published for models, the rules of the parser in both modes, and the parser for unfinished patches agree. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createStreamingParser,
  parsePatch,
  patchGrammar,
  PatchError,
  type Mode,
  type Patch,
} from '../../apply-patch/index.ts'
import { lenientTypes, PatchParser } from '../../apply-patch/parse/grammar.ts'
import { tries } from '../support/tries.ts'

/** A part of a rule, as Chevrotain describes it. */
type Part = {
  readonly type: string
  readonly name?: string
  readonly nonTerminalName?: string
  readonly definition?: readonly Part[]
}

/** The rules of the parser in Lark's notation, without what only lenient mode accepts, and without the line that models need not know. */
function rulesOf(parser: PatchParser): string {
  const unpublished = ['EnvironmentId', ...Object.values(lenientTypes).map(({ name }) => name)]
  const snake = (name: string): string => name.replaceAll(/(?<=.)[A-Z]/g, '_$&').toLowerCase()
  const rules = new Map<string, string>()
  for (const rule of parser.getSerializedGastProductions() as unknown as readonly Part[])
    rules.set(rule.name ?? '', sequence(rule, 'none'))
  /** The text of a part; empty if nothing of it is published. */
  function text(part: Part): string {
    const name = part.nonTerminalName ?? part.name ?? ''
    switch (part.type) {
      case 'Terminal':
        if (unpublished.includes(name)) return ''
        // A token can be a run of lines.
        return name.endsWith('Lines') ? `${snake(name).slice(0, -1)}+` : snake(name)
      case 'NonTerminal':
        return name === 'blanks' ? '' : snake(name)
      case 'Option':
        return repeated(part, '?')
      case 'Repetition':
        return repeated(part, '*')
      case 'RepetitionMandatory':
        return repeated(part, '+')
      case 'Alternation': {
        const alternatives = (part.definition ?? []).map((each) => sequence(each, 'none')).filter((each) => each !== '')
        return alternatives.length > 1 ? `(${alternatives.join(' | ')})` : (alternatives[0] ?? '')
      }
      default:
        throw new Error(`a part of the type ${part.type} has no Lark notation here`)
    }
  }
  function repeated(part: Part, sign: string): string {
    const inner = sequence(part, 'group')
    if (inner === '') return ''
    return sign === '?' && inner.endsWith('+') ? `${inner.slice(0, -1)}*` : `${inner}${sign}`
  }
  function sequence({ definition = [] }: Part, around: 'group' | 'none'): string {
    const parts = definition.map(text).filter((each) => each !== '')
    return around === 'group' && parts.length > 1 ? `(${parts.join(' ')})` : parts.join(' ')
  }
  return [...rules]
    .flatMap(([name, definition]) => (definition === '' ? [] : [`${snake(name)}: ${definition}\n`]))
    .join('')
}

/** A Lark grammar without recursion as a regular expression. */
function expressionOf(lark: string): string {
  const rules = new Map(
    lark.split('\n').flatMap((line) => {
      const [, name, definition] = /^(\w+): (.*)$/.exec(line) ?? []
      return name === undefined || definition === undefined ? [] : [[name, definition] as const]
    }),
  )
  const inline = (name: string): string =>
    (rules.get(name) ?? '').replaceAll(/"([^"]*)"|\/(.*?)\/(?=[ )]|$)|(\w+)| /g, (_, quoted, pattern, other) => {
      if (quoted !== undefined) return `(?:${String(quoted).replaceAll(/[*+]/g, String.raw`\$&`)})`
      if (pattern !== undefined) return String(pattern).replaceAll(/(?<!\\)\./g, String.raw`[^\n]`)
      if (other === undefined) return ''
      return other === 'LF' ? String.raw`(?:\n)` : `(?:${inline(String(other))})`
    })
  return inline('start')
}

const isAccepted = (text: string, mode: Mode): Patch | undefined => {
  try {
    return parsePatch(text, { mode }).patch
  } catch (error) {
    if (error instanceof PatchError) return undefined
    throw error
  }
}

const path = fc.constantFrom('a', 'b c', ' a', 'a ', ' ', 'ü', '@@', 'a: b', 'x *', 'y ***')
const chunkLine = fc.constantFrom(
  '+',
  '-',
  ' ',
  '+a',
  '-b',
  ' c',
  '+*** End Patch',
  ' @@ x',
  '-- a',
  '++ b',
  '   ',
  ' *** End of File',
)
const anchor = fc.constantFrom('@@', '@@ f', '@@  ', '@@ @@ -1,2 +1,3 @@', '@@ -1,2 +1,3 @@', '@@ -1 +1 @@ f', '@@ a ')
const ending = fc.constantFrom([], [], ['*** End of File'])
const many = <T>(one: fc.Arbitrary<T>, minLength = 0): fc.Arbitrary<T[]> => fc.array(one, { minLength, maxLength: 3 })
const chunk = fc.tuple(many(anchor), many(chunkLine, 1), ending).map((parts) => parts.flat())
const moves = fc.oneof(
  fc.constant([]),
  path.map((to) => [`*** Move to: ${to}`]),
)
const operation = fc.oneof(
  fc.tuple(path, many(chunkLine)).map(([name, lines]) => [`*** Add File: ${name}`, ...lines.map((line) => `+${line}`)]),
  path.map((name) => [`*** Delete File: ${name}`]),
  fc
    .tuple(path, moves, many(chunk))
    .map(([name, move, chunks]) => [`*** Update File: ${name}`, ...move, ...chunks.flat()]),
)
const anyLine = fc.oneof(
  chunkLine,
  anchor,
  fc.constantFrom(
    '',
    '@@\t',
    '@@ ',
    '@@x',
    ' ',
    '\t',
    'text',
    '***',
    '*** End of File',
    '*** End of File ',
    '*** Move to: m',
    '*** Move to:',
  ),
  fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Environment ID: e',
    '*** Environment ID:',
    '*** Add File: ',
    ' *** Add File: n',
  ),
  fc.constantFrom(
    '--- a/a',
    '+++ b/a',
    '+++ u',
    '@@ -0,0 +1 @@',
    '@@ -1 +1 @@ a',
    'diff --git a/a b/a',
    'index 1..2',
    String.raw`\ No newline at end of file`,
    '*** Update File: u',
  ),
)
/** Patches, and patches in which some lines are left out, put in, or replaced. */
const lines = fc
  .tuple(
    many(operation, 1).map((all) => ['*** Begin Patch', ...all.flat(), '*** End Patch']),
    fc.oneof(fc.constant([]), many(fc.tuple(fc.nat(30), fc.nat(2), many(anyLine)))),
    fc.constantFrom('', '\n'),
  )
  .map(([all, edits, end]) => {
    const edited = [...all]
    for (const [at, drop, put] of edits) edited.splice(at % (edited.length + 1), drop, ...put)
    return edited.join('\n') + end
  })

describe('the published grammar', () => {
  test('consists of the rules of the parser', () => {
    expect(patchGrammar.slice(0, patchGrammar.indexOf('\n\n') + 1)).toBe(rulesOf(new PatchParser()))
  })

  test('describes what strict mode accepts', () => {
    const withoutEnvironment = (text: string): string =>
      text.replace(/^(\*\*\* Begin Patch\n)\*\*\* Environment ID:.*\S.*\n/, '$1')
    const published = new RegExp(`^${expressionOf(patchGrammar)}$`)
    let accepted = 0
    fc.assert(
      fc.property(lines, (text) => {
        const found = isAccepted(text, 'strict') !== undefined
        if (found) accepted++
        expect(published.test(withoutEnvironment(text)), text).toBe(found)
        expect(isAccepted(text.replaceAll('\n', '\r\n'), 'strict') !== undefined).toBe(found)
      }),
      { numRuns: tries(20_000) },
    )
    expect(accepted).toBeGreaterThan(10)
  })

  /** Whether lenient mode takes a line for the header of a diff that names another file than the patch does. */
  const namesAnotherFile = (text: string): boolean => {
    try {
      parsePatch(text, { mode: 'lenient' })
      return false
    } catch (error) {
      const failures = error instanceof PatchError ? error.failures : []
      return (
        failures.length > 0 &&
        failures.every((each) => each.code === 'unexpected-line' && /^\+\+\+ /.test(each.found ?? ''))
      )
    }
  }

  test('describes nothing that lenient mode refuses, but a header of a diff that names another file, and would be added to this one', () => {
    fc.assert(
      fc.property(lines, (text) => {
        if (isAccepted(text, 'strict') !== undefined && !namesAnotherFile(text))
          expect(isAccepted(text, 'lenient'), text).toBeDefined()
      }),
      { numRuns: tries(20_000) },
    )
    const other = '*** Begin Patch\n*** Update File: y\n+++ b/a\n@@\n+b\n*** End Patch\n'
    expect([isAccepted(other, 'strict') !== undefined, namesAnotherFile(other)]).toEqual([true, true])
  })

  test.each([
    ['an @@ with nothing below it', '*** Update File: a\n@@\n'],
    ['an update without chunks', '*** Update File: a\n'],
    ['an @@ and a tab', '*** Update File: a\n@@\t\n-b\n'],
    ['an @@ and a blank', '*** Update File: a\n@@ \n-b\n'],
    ['a path of blanks', '*** Delete File:   \n'],
    ['no operation', ''],
  ])('and strict mode have no place for %s', (_, body) => {
    const text = `*** Begin Patch\n${body}*** End Patch\n`
    expect(new RegExp(`^${expressionOf(patchGrammar)}$`).test(text)).toBe(false)
    expect(isAccepted(text, 'strict')).toBeUndefined()
  })
})

describe('an unfinished patch', () => {
  const around = fc.constantFrom<readonly [string, string]>(
    ['', ''],
    ["apply_patch <<'EOF'\n", '\nEOF\n'],
    ['Here it is:\n\n```\n', '\n```\nDone.\n'],
  )
  test.each(['lenient', 'strict'] as const)(
    'is read with the paths and anchors that it has when it is finished, %s',
    (mode) => {
      const meaning = ({ operations }: Patch): unknown =>
        operations.map((each) => ({
          type: each.type,
          path: each.path,
          moveTo: each.type === 'update' ? each.moveTo : undefined,
          anchors: each.type === 'update' ? each.chunks.map(({ anchors }) => anchors.map(({ text }) => text)) : [],
        }))
      let accepted = 0
      fc.assert(
        fc.property(lines, around, fc.nat(9), (inside, [before, after], size) => {
          const text = before + inside + after
          const patch = isAccepted(text, mode)
          if (patch === undefined) return
          accepted++
          const parser = createStreamingParser({ mode })
          for (let at = 0; at < text.length; at += size + 1) parser.push(text.slice(at, at + size + 1))
          const found = parser.operations().map(({ type, path: name, moveTo, chunks }) => ({
            type,
            path: name,
            moveTo,
            anchors: type === 'update' ? chunks.map(({ anchors }) => anchors) : [],
          }))
          expect(found, text).toEqual(meaning(patch))
          expect(parser.isComplete()).toBe(true)
        }),
        { numRuns: tries(20_000) },
      )
      expect(accepted).toBeGreaterThan(10)
    },
  )
})
