import { RegExpParser, type AST } from '@eslint-community/regexpp'
import { expect, test } from 'vitest'
import { mayTellAbroad, mayTellOfPushes, mayTellOfTests } from '../../../../engine/run/claims/may-claim.ts'
import { saysOfLanguages } from '../../../../engine/run/claims/other-languages.ts'
import { arrivals, reported, requests, speaksOfIt } from '../../../../engine/run/claims/push-words.ts'
import { idioms } from '../../../../engine/run/claims/test-idioms.ts'
import { someFail, sweeping, topics } from '../../../../engine/run/claims/test-words.ts'

const parser = new RegExpParser()

/**
 * Whether every text that the pattern matches contains something that the gate finds. Only some kinds of parts are considered: sequences of
 * characters and digits, and classes of characters that aren't negated. So `true` is certain, but `false` may be wrong.
 */
function isNeeded(node: AST.Pattern | AST.Alternative | AST.Element, gate: RegExp): boolean {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives.every((each) => isNeeded(each, gate))
    case 'Alternative': {
      const runs = ['']
      for (const element of node.elements) {
        const sign = signOf(element)
        if (sign === undefined) runs.push('')
        else runs.push((runs.pop() ?? '') + sign)
      }
      return runs.some((run) => run !== '' && gate.test(run)) || node.elements.some((each) => isNeeded(each, gate))
    }
    case 'Quantifier':
      return node.min > 0 && isNeeded(node.element, gate)
    case 'CharacterClass':
      return !node.negate && node.elements.every((each) => isFound(each, gate))
    case 'CharacterSet':
      return isDigit(node) && gate.test('5')
    default:
      return false
  }
}

/**
 * Whether the gate finds every character that a part of a character class matches. If the part isn't a character or a range, the answer is `false`.
 */
function isFound(part: AST.CharacterClassElement, gate: RegExp): boolean {
  if (part.type === 'Character') return gate.test(textOf(part))
  if (part.type !== 'CharacterClassRange') return false
  for (let { value } = part.min; value <= part.max.value; value++)
    if (!gate.test(String.fromCodePoint(value))) return false
  return true
}

function isDigit(node: AST.Element): boolean {
  return node.type === 'CharacterSet' && node.kind === 'digit' && !node.negate
}

/** The text that an element matches; undefined if it varies. `5` stands for any digit, and an assertion matches the empty text. */
function signOf(element: AST.Element): string | undefined {
  if (element.type === 'Assertion') return ''
  if (element.type === 'Character') return textOf(element)
  if (isDigit(element)) return '5'
  return undefined
}

function textOf({ value }: AST.Character): string {
  return String.fromCodePoint(value)
}

/** Returns those alternatives of a pattern that may match a text that `gate` doesn't match. */
function missedIn(pattern: RegExp, gate: RegExp): readonly string[] {
  const tree = parser.parsePattern(pattern.source, 0, undefined, { unicode: pattern.unicode })
  return tree.alternatives.filter((each) => !isNeeded(each, gate)).map(({ raw }) => raw)
}

const marks = idioms.filter(([, mark]) => mark !== '').map(([idiom]) => idiom)

test.each([
  ['tests', mayTellOfTests, [topics, someFail, sweeping, ...marks]],
  ['pushes', mayTellOfPushes, [...arrivals([]), ...requests, speaksOfIt, reported]],
  ['either, in other languages', mayTellAbroad, saysOfLanguages()],
] as const)(
  'the quick check for %s passes each message in which the tables could find a claim',
  (_, gate, patterns) => {
    expect(patterns.flatMap((pattern) => missedIn(pattern, gate))).toEqual([])
  },
)

test('a message in which the quick check finds nothing is not compared with the patterns', () => {
  for (const gate of [mayTellOfTests, mayTellOfPushes, mayTellAbroad]) expect(gate.test('done')).toBe(false)
})
