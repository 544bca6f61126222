import type { TestExpression, Word } from './shell-syntax.ts'
import { mountedHosts } from './mounted-hosts.ts'
import { plainExpansion } from './variables.ts'
import { choicesOf } from './variants.ts'
import { readWord } from './walk-words.ts'
import type { WordContext } from './word-context.ts'

/** Reads a word that is compared with others. Each comparison reveals something about an environment variable that occurs in the word. */
export function readCompared(word: Word, context: WordContext): void {
  const shown = readWord(word, context)
    .flatMap(choicesOf)
    .some((one) => one.kind === 'dynamic' && one.from === 'environment')
  if (shown) context.shows(word.text)
}

/** Reads a word that may name a file. Reports a problem if looking at the file may connect this machine to another one. */
function readLookedAt(word: Word, context: WordContext): void {
  const hosts = mountedHosts(readWord(word, context).flatMap(choicesOf))
  if (hosts.length > 0) context.problem(`${word.text} may be a file on another machine`)
}

/** Reads `[[ … ]]` and walks the words in it. A comparison of numbers evaluates the text on both sides as arithmetic. */
export function checkTest(expression: TestExpression, context: WordContext): void {
  switch (expression.type) {
    case 'TestLogical':
      for (const _ of expression.operands.slice(1)) context.coverage.expect(expression.operator)
      for (const operand of expression.operands) checkTest(operand, context)
      return
    case 'TestNot':
      for (const _ of expression.negations) context.coverage.expect('test')
      return checkTest(expression.operand, context)
    case 'TestGroup':
      context.coverage.expect('(', ')')
      return checkTest(expression.expression, context)
    case 'TestUnary':
      // A single word is an implicit `-n` test.
      if (expression.operand.pos > expression.pos) context.coverage.expect('test')
      // A test such as `-f` or `-z` doesn't compare the operand. It shows only whether a file exists, or whether a variable is empty.
      if (!/^-[nz]$/.test(expression.operator) || plainExpansion.test(expression.operand.text))
        readLookedAt(expression.operand, context)
      else readCompared(expression.operand, context)
      if (/^-[vR]$/.test(expression.operator)) context.evaluates(`[[ ${expression.operator} evaluates subscripts`)
      return
    case 'TestBinary':
      context.coverage.expect('test')
      for (const side of [expression.left, expression.right]) {
        readCompared(side, context)
        const isNumber = /^(?:-?[0-9]+|\$[#?])$/.test(side.text)
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator) && !isNumber) {
          context.evaluates(`[[ ${expression.operator} evaluates the text of ${side.text}`)
        }
      }
      return
    default:
      context.problem(`${(expression satisfies never as { type: string }).type} is an unknown test`)
  }
}
