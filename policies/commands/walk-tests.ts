import type { TestExpression } from './shell-syntax.ts'
import { readWord, type WordContext } from './walk-words.ts'

/** Reads `[[ … ]]`: the words in it are walked, and comparisons of numbers evaluate the text of their sides. */
export function checkTest(expression: TestExpression, context: WordContext): void {
  switch (expression.type) {
    case 'TestLogical':
      for (const operand of expression.operands) checkTest(operand, context)
      return
    case 'TestNot':
      return checkTest(expression.operand, context)
    case 'TestGroup':
      return checkTest(expression.expression, context)
    case 'TestUnary':
      readWord(expression.operand, context)
      if (/^-[vR]$/.test(expression.operator)) context.evaluates(`[[ ${expression.operator} evaluates subscripts`)
      return
    case 'TestBinary':
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
