import { assemble, outputOf, worstOrigin, type Piece } from './assemble-word.ts'
import type { DoubleQuotedChild, ParameterExpansionPart, Word, WordPart } from './shell-syntax.ts'
import type { ArithmeticExpression } from './shell-syntax.ts'
import type { ShellWord, WordChoice } from './shell-word.ts'
import { choicesOf } from './variants.ts'
import { decodeAnsi, unescapePlain, unescapeQuoted } from './unescape.ts'
import type { WordContext } from './word-context.ts'

/** Returns the words that a word expands to: usually one, several if it has braces. Substitutions in it are walked as well. */
export function readWord(word: Word, context: WordContext): readonly (ShellWord | WordChoice)[] {
  context.coverage.claim('word', word)
  return readOperand(word, context)
}

/** Like `readWord`, but records no word in `coverage`. Also reads a text inside a word: an assignment's value, or the operand of an expansion. */
export function readOperand(word: Word, context: WordContext): readonly (ShellWord | WordChoice)[] {
  if (/(?:^|[=:])~[-+0-9]/.test(word.text)) context.problem(`${word.text} refers to a folder that the shell remembers`)
  if (/(?:^|[=:])~(?:\/|$)/.test(word.text) && context.variables.isAssigned('HOME'))
    context.problem(`${word.text} refers to a folder that the command line chooses`)
  if (word.parts === undefined) {
    if (unescapePlain(word.text) !== word.value) context.problem(`the meaning of ${word.text} is unknown`)
    return [{ kind: 'static', text: word.value }]
  }
  const pieces = word.parts.flatMap((part) => readPart(part, false, context))
  return assemble(pieces, word.text, context)
}

/**
 * Walks the expansions of a text that isn't split into words, such as a heredoc's body. Returns the text if it contains no expansion, and the name of
 * an environment variable that it reveals, if there is one.
 */
export function readText(
  parts: readonly WordPart[] | undefined,
  text: string,
  context: WordContext,
): { readonly text: string | undefined; readonly reveals?: string } {
  if (parts === undefined) return { text }
  const pieces = parts.flatMap((part) => readPart(part, true, context))
  const reveals = pieces.flatMap((piece) => {
    if (piece.kind === 'variable') return context.variables.isFromEnvironment(piece.name) ? [`$${piece.name}`] : []
    return piece.kind === 'output' && piece.from === 'environment' ? ['a variable'] : []
  })
  return { text: undefined, ...(reveals[0] === undefined ? {} : { reveals: reveals[0] }) }
}

function readPart(part: WordPart | DoubleQuotedChild, quoted: boolean, context: WordContext): readonly Piece[] {
  switch (part.type) {
    case 'Literal':
      if ((quoted ? unescapeQuoted : unescapePlain)(part.text) !== part.value)
        context.problem(`the meaning of ${part.text} is unknown`)
      return [{ kind: 'text', text: part.value, quoted }]
    case 'SingleQuoted':
      context.coverage.claim('single', part)
      return [{ kind: 'text', text: part.value, quoted: true }]
    case 'AnsiCQuoted':
      context.coverage.claim('ansi', part)
      if (decodeAnsi(part.text.slice(2, -1)) !== part.value) context.problem(`the meaning of ${part.text} is unknown`)
      return [{ kind: 'text', text: part.value, quoted: true }]
    case 'DoubleQuoted':
      context.coverage.claim('double', part)
      return part.parts.length === 0
        ? [{ kind: 'text', text: '', quoted: true }]
        : part.parts.flatMap((child) => readPart(child, true, context))
    case 'LocaleString':
      context.problem('a $"…" string is translated before it is used')
      return part.parts.flatMap((child) => readPart(child, true, context))
    case 'Glob':
      context.coverage.pattern(part)
      for (const inner of part.parts ?? []) readPart(inner, true, context)
      return [{ kind: 'glob', text: part.text }]
    case 'ExtendedGlob':
      context.problem(`${part.text} is an extended pattern, which shells interpret differently`)
      return [{ kind: 'glob', text: '*' }]
    case 'BraceExpansion': {
      context.coverage.braces(part)
      const inner = (part.parts ?? []).flatMap((one) => readPart(one, true, context))
      return [{ kind: 'braces', text: part.text, from: worstOrigin(inner, context.variables) }]
    }
    case 'SimpleExpansion':
      context.coverage.claim('simple', part)
      return [variablePiece(part.text.slice(1), quoted)]
    case 'ParameterExpansion':
      context.coverage.claim('parameter', part)
      return apart(context, () => readParameter(part, quoted, context))
    case 'CommandExpansion':
      context.coverage.claim('command', part)
      return [outputOf(context.substitution(part.script), quoted, context)]
    case 'ProcessSubstitution':
      context.coverage.claim('process', part)
      context.substitution(part.script)
      // A process substitution becomes the path of a descriptor, which is neither an option nor a user's file.
      return [
        { kind: 'text', text: '/dev/fd/63', quoted: true },
        { kind: 'output', quoted: true, single: true, from: 'workspace' },
      ]
    case 'ArithmeticExpansion':
      context.coverage.claim('arithmetic', part)
      checkArithmetic(part.expression, context)
      return [{ kind: 'output', quoted: true, single: true, from: 'commands' }]
    default:
      context.problem(`${(part satisfies never as WordPart).type} is unknown syntax`)
      return [{ kind: 'output', quoted: false, single: false, from: 'environment' }]
  }
}

function variablePiece(name: string, quoted: boolean): Piece {
  if (name === '@' || name === '*') return { kind: 'output', quoted, single: false, from: 'commands' }
  return { kind: 'variable', name, quoted }
}

/** Reads an expansion `${…}`. Forms that may evaluate code, set a variable or show the environment are reported to `context`. */
function readParameter(part: ParameterExpansionPart, quoted: boolean, context: WordContext): readonly Piece[] {
  const { operation, index, parameter } = part
  const from = context.variables.isFromEnvironment(parameter) ? 'environment' : 'commands'
  // `$@`, `$*` and all elements of an array count as several words, even in quotes.
  const isMany = /^[@*]$/.test(parameter) || (index !== undefined && /^[@*]$/.test(index.text))
  const output: Output = { kind: 'output', quoted, single: quoted && !isMany, from }
  if (part.prefix === '!') {
    context.problem(`${part.text} takes the name of a variable from another variable`)
    return [output]
  }
  if (index !== undefined && !/^(?:[0-9]+|[@*])$/.test(index.text)) {
    readOperand(index, context)
    context.evaluates(`the subscript in ${part.text} is evaluated as arithmetic`)
    return [output]
  }
  if (part.prefix === '#') return [{ ...output, from: 'commands', single: true }]
  if (operation === undefined) {
    if (index !== undefined) return [{ ...output, single: quoted && /^[0-9]+$/.test(index.text) }]
    return [variablePiece(parameter, quoted)]
  }
  switch (operation.type) {
    case 'Default': {
      const shown = revealing(operation.operand, output, context)
      if (operation.operator.includes('=')) context.problem(`${part.text} sets a variable`)
      if (operation.operator.includes('?') && shown.from === 'environment')
        context.problem(`${part.text} shows an environment variable in a message`)
      return [shown]
    }
    case 'Remove':
      readOperand(operation.operand, context)
      return [output]
    case 'Replace':
      readOperand(operation.pattern, context)
      return [revealing(operation.replacement, output, context)]
    case 'CaseModification':
      if (operation.operand !== undefined) readOperand(operation.operand, context)
      return [output]
    case 'Slice':
      for (const bound of [operation.offset, operation.length]) {
        if (bound === undefined) continue
        readOperand(bound, context)
        if (!/^\s*-?[0-9]+$/.test(bound.text))
          context.evaluates(`the bounds in ${part.text} are evaluated as arithmetic`)
      }
      return [output]
    case 'Transform':
      readOperand(operation.operand, context)
      context.problem(
        `${part.text} transforms the value of the variable; one of these transformations, @P, would run commands in the value`,
      )
      return [output]
    case 'Names':
    case 'Unknown':
      context.problem(`${part.text} is an unknown expansion`)
      return [output]
    default:
      context.problem(`${(operation satisfies never as { type: string }).type} is an unknown expansion`)
      return [output]
  }
}

/** Reads the contents of an expansion. The shell might not evaluate them, so a name to which they assign may have no value afterwards. */
function apart<T>(context: WordContext, read: () => readonly T[]): readonly T[] {
  let found: readonly T[] = []
  context.variables.apart(() => void (found = read()))
  return found
}

type Output = Extract<Piece, { kind: 'output' }>

/** Notes in an expansion's output that its operand (such as a default value) may reveal an environment variable or expand to several words. */
function revealing(operand: Word, output: Output, context: WordContext): Output {
  const words = readOperand(operand, context).flatMap(choicesOf)
  const reveals = words.some((word) => word.kind === 'dynamic' && word.from === 'environment')
  const isMany = /\$(?:[@*]|\{[#!]?(?:[@*]|\w+\[[@*]))/.test(operand.text)
  return { ...output, ...(reveals ? { from: 'environment' } : {}), single: output.single && !isMany }
}

/**
 * Checks arithmetic. The shell also evaluates the values of the variables in it (a value `a[$(…)]` runs the command). So the only operands that are
 * accepted are numbers, and names to which the command line itself assigns numbers.
 */
export function checkArithmetic(expression: ArithmeticExpression | undefined, context: WordContext): void {
  if (expression === undefined) return context.problem('an arithmetic expression could not be read')
  switch (expression.type) {
    case 'ArithmeticBinary':
      if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(expression.operator) && expression.left.type !== 'ArithmeticWord') {
        context.problem('arithmetic assigns to something other than a variable')
      }
      if (expression.operator === '=' && expression.left.type === 'ArithmeticWord') {
        // Arithmetic always assigns a number, so the number 0 can stand for any value.
        context.variables.assign(expression.left.value.trim(), { kind: 'static', text: '0' })
        context.assigns(expression.left.value.trim())
      }
      checkArithmetic(expression.left, context)
      if (!/^(?:&&|\|\|)$/.test(expression.operator)) return checkArithmetic(expression.right, context)
      context.variables.apart(() => checkArithmetic(expression.right, context))
      return
    case 'ArithmeticUnary':
      return checkArithmetic(expression.operand, context)
    case 'ArithmeticTernary':
      checkArithmetic(expression.test, context)
      for (const one of [expression.consequent, expression.alternate])
        context.variables.apart(() => checkArithmetic(one, context))
      return
    case 'ArithmeticGroup':
      return checkArithmetic(expression.expression, context)
    case 'ArithmeticWord': {
      for (const part of expression.parts ?? []) readPart(part, true, context)
      const name = /^\$?\{?([A-Za-z_]\w*)\}?$/.exec(expression.value.trim())?.[1]
      const numbers = name !== undefined && context.variables.isNumber(name)
      if (numbers || /^(?:[0-9]+|0[xX][0-9a-fA-F]+|\$[#?])$/.test(expression.value.trim())) return
      return context.evaluates(`arithmetic evaluates the text of ${expression.value}`)
    }
    case 'ArithmeticCommandExpansion':
      context.coverage.claim('command', expression)
      context.substitution(expression.script)
      return context.problem('arithmetic evaluates the output of a command')
    default:
      context.problem(`${(expression satisfies never as { type: string }).type} is unknown arithmetic`)
  }
}
