import type { IToken } from 'chevrotain'
import { Keyword, Other } from './rule-tokens.ts'

/** Describes a token that the grammar doesn't expect. `undefined` stands for the end of the file. */
export function describeToken(found: IToken | undefined): string {
  if (found === undefined) return 'the file ends in the middle of a rule'
  if (found.tokenType === Keyword) {
    return `"${found.image}" is a part of Starlark that is not supported here: rule files may contain only rules and constants`
  }
  const form = unknownForms.find(([start]) => start.test(found.image))?.[1]
  if (form !== undefined)
    return `"${found.image}" is ${form}, which is not supported here: rule files may contain only rules and constants`
  if (/^["']/.test(found.image) && found.tokenType === Other) return 'a string is not closed on its line'
  return `${JSON.stringify(found.image)} is not allowed here`
}

/** Starlark syntax that rule files can't use: a pattern for the text at which parsing fails, and the name of the syntax. */
const unknownForms: readonly (readonly [RegExp, string])[] = [
  [/^\[/, 'an index, or a list by itself'],
  [/^["'].+["']$/, 'a string next to something else, as in an f-string'],
  [/^[*]/, 'repetition or unpacking (* or **)'],
  [/^%/, 'formatting (%)'],
  [/^\./, 'a method such as .format or .append'],
  [/^[{}]/, 'a dictionary'],
  [/^[-/<>!|&^~]/, 'an operator'],
  [/^:/, 'a block or a slice (:)'],
]

/** Describes what was expected, according to the parser's own message. */
export function expectation(message: string): string {
  const token = between(message, '--> ', ' <-- but')
  if (token !== undefined) return token
  return /end of input|EOF/i.test(message)
    ? 'a rule such as prefix_rule(pattern = ["git", "push"])'
    : 'a string, a list or a name'
}

function between(text: string, before: string, after: string): string | undefined {
  const from = text.indexOf(before)
  const to = text.lastIndexOf(after)
  return from < 0 || to < from ? undefined : text.slice(from + before.length, to)
}
