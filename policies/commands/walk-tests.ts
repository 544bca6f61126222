import type { TestExpression } from './shell-syntax.ts'
import { readWord } from './walk-words.ts'
import type { WordContext } from './word-context.ts'

/** Reads `[[ … ]]`: the words in it are walked, and comparisons of numbers evaluate the text of their sides. */
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
      // A word alone is one for which -n stands unwritten.
      if (expression.operand.pos > expression.pos) context.coverage.expect('test')
      readWord(expression.operand, context)
      if (/^-[vR]$/.test(expression.operator)) context.evaluates(`[[ ${expression.operator} evaluates subscripts`)
      return
    case 'TestBinary':
      context.coverage.expect('test')
      for (const side of [expression.left, expression.right]) {
        readWord(side, context)
        const isNumber = /^(?:-?[0-9]+|\$[#?])$/.test(side.text)
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator) && !isNumber) {
          context.evaluates(`[[ ${expression.operator} evaluates the text of ${side.text}`)
        }
      }
      return
    default:
      context.problem(`${(expression satisfies never as { type: string }).type} is a test not known here`)
  }
}
