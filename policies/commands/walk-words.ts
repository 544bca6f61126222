import { expandBraces } from './braces.ts'
import type { DoubleQuotedChild, ParameterExpansionPart, ParsedScript, Word, WordPart } from './shell-syntax.ts'
import type { ArithmeticExpression } from './shell-syntax.ts'
import type { ShellWord, WordChoice } from './shell-word.ts'
import type { Variables } from './variables.ts'

/** What the reading of words needs from the walk around it. */
export type WordContext = {
  readonly variables: Variables
  /** The shell is not bash: what bash alone understands is a different text to it. */
  readonly plainShell: boolean
  /** Walks the commands of a substitution. */
  readonly substitution: (script: ParsedScript | undefined) => void
  /** Notes why the line can't be fully understood. */
  readonly problem: (reason: string) => void
  /** Notes that text held as data is evaluated, and may run what is in it. */
  readonly evaluates: (reason: string) => void
}

type Origin = Extract<ShellWord, { kind: 'dynamic' }>['from']

type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly quoted: boolean }
  | { readonly kind: 'glob'; readonly text: string }
  | { readonly kind: 'braces'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly quoted: boolean }
  | {
      readonly kind: 'output'
      readonly quoted: boolean
      readonly single: boolean
      readonly from: Origin
    }

/** A word as the words it becomes: mostly one, several where braces say so. Substitutions in it are walked on the way. */
export function readWord(word: Word, context: WordContext): readonly (ShellWord | WordChoice)[] {
  if (word.parts === undefined) return [{ kind: 'static', text: word.value }]
  const pieces = word.parts.flatMap((part) => readPart(part, false, context))
  return assemble(pieces, word.text, context)
}

/**
 * Walks the expansions of a text that isn't split into words, a heredoc's body. Gives its text where it has none, and
 * the variable of the environment it shows, where it shows one.
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
      return [{ kind: 'text', text: part.value, quoted }]
    case 'SingleQuoted':
      return [{ kind: 'text', text: part.value, quoted: true }]
    case 'AnsiCQuoted':
      if (context.plainShell) context.problem("$'…' means something else to a plain sh")
      return [{ kind: 'text', text: part.value, quoted: true }]
    case 'DoubleQuoted':
      return part.parts.length === 0
        ? [{ kind: 'text', text: '', quoted: true }]
        : part.parts.flatMap((child) => readPart(child, true, context))
    case 'LocaleString':
      context.problem('a $"…" string is translated before it is used')
      return part.parts.flatMap((child) => readPart(child, true, context))
    case 'Glob':
      for (const inner of part.parts ?? []) readPart(inner, true, context)
      return [{ kind: 'glob', text: part.text }]
    case 'ExtendedGlob':
      context.problem(`${part.text} is an extended pattern, which shells read differently`)
      return [{ kind: 'glob', text: '*' }]
    case 'BraceExpansion':
      for (const inner of part.parts ?? []) readPart(inner, true, context)
      return [{ kind: 'braces', text: part.text }]
    case 'SimpleExpansion':
      return [variablePiece(part.text.slice(1), quoted)]
    case 'ParameterExpansion':
      return readParameter(part, quoted, context)
    case 'CommandExpansion':
      context.substitution(part.script)
      return [{ kind: 'output', quoted, single: quoted, from: 'commands' }]
    case 'ProcessSubstitution':
      if (context.plainShell) context.problem('a plain sh has no process substitution')
      context.substitution(part.script)
      // A descriptor's name: no option, and no file of anybody's.
      return [
        { kind: 'text', text: '/dev/fd/', quoted: true },
        { kind: 'output', quoted: true, single: true, from: 'workspace' },
      ]
    case 'ArithmeticExpansion':
      checkArithmetic(part.expression, context)
      return [{ kind: 'output', quoted: true, single: true, from: 'commands' }]
    default:
      context.problem(`${(part satisfies never as WordPart).type} is syntax not known here`)
      return [{ kind: 'output', quoted: false, single: false, from: 'environment' }]
  }
}

function variablePiece(name: string, quoted: boolean): Piece {
  if (name === '@' || name === '*') return { kind: 'output', quoted, single: false, from: 'commands' }
  return { kind: 'variable', name, quoted }
}

/** `${…}`: plain names, defaults, trimming and replacing are text; the forms that evaluate what they find are not understood. */
function readParameter(part: ParameterExpansionPart, quoted: boolean, context: WordContext): readonly Piece[] {
  const { operation, index, parameter } = part
  const from = context.variables.isFromEnvironment(parameter) ? 'environment' : 'commands'
  const output: Piece = { kind: 'output', quoted, single: quoted, from }
  if (part.prefix === '!') {
    context.problem(`${part.text} names a variable by a variable`)
    return [output]
  }
  if (index !== undefined && !/^(?:[0-9]+|[@*])$/.test(index.text)) {
    readWord(index, context)
    context.evaluates(`the subscript in ${part.text} is evaluated`)
    return [output]
  }
  if (part.prefix === '#') return [{ ...output, from: 'commands', single: true }]
  if (operation === undefined) {
    if (index !== undefined) return [{ ...output, single: quoted && /^[0-9]+$/.test(index.text) }]
    return [variablePiece(parameter, quoted)]
  }
  switch (operation.type) {
    case 'Default':
      readWord(operation.operand, context)
      if (operation.operator.includes('=')) context.problem(`${part.text} sets a variable`)
      return [output]
    case 'Remove':
      readWord(operation.operand, context)
      return [output]
    case 'Replace':
      readWord(operation.pattern, context)
      readWord(operation.replacement, context)
      return [output]
    case 'CaseModification':
      if (operation.operand !== undefined) readWord(operation.operand, context)
      return [output]
    case 'Slice':
      for (const bound of [operation.offset, operation.length]) {
        if (bound === undefined) continue
        readWord(bound, context)
        if (!/^\s*-?[0-9]+$/.test(bound.text)) context.evaluates(`the bounds in ${part.text} are evaluated`)
      }
      return [output]
    case 'Transform':
      readWord(operation.operand, context)
      context.problem(`${part.text} transforms, and @P runs, what the variable holds`)
      return [output]
    case 'Names':
    case 'Unknown':
      context.problem(`${part.text} is an expansion not known here`)
      return [output]
    default:
      context.problem(`${(operation satisfies never as { type: string }).type} is an expansion not known here`)
      return [output]
  }
}

/**
 * Arithmetic runs the text of the variables it meets (`a[$(…)]` in a value is executed), so only numbers
 * and names that the line itself gives numbers to are understood.
 */
export function checkArithmetic(expression: ArithmeticExpression | undefined, context: WordContext): void {
  if (expression === undefined) return context.problem('an arithmetic expression could not be read')
  switch (expression.type) {
    case 'ArithmeticBinary':
      if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(expression.operator) && expression.left.type !== 'ArithmeticWord') {
        context.problem('arithmetic assigns to something that is not a name')
      }
      if (expression.operator === '=' && expression.left.type === 'ArithmeticWord') {
        // What arithmetic assigns is a number.
        context.variables.assign(expression.left.value.trim(), { kind: 'static', text: '0' })
      }
      checkArithmetic(expression.left, context)
      return checkArithmetic(expression.right, context)
    case 'ArithmeticUnary':
      return checkArithmetic(expression.operand, context)
    case 'ArithmeticTernary':
      checkArithmetic(expression.test, context)
      checkArithmetic(expression.consequent, context)
      return checkArithmetic(expression.alternate, context)
    case 'ArithmeticGroup':
      return checkArithmetic(expression.expression, context)
    case 'ArithmeticWord': {
      for (const part of expression.parts ?? []) readPart(part, true, context)
      const name = /^\$?\{?([A-Za-z_]\w*)\}?$/.exec(expression.value.trim())?.[1]
      const values = name === undefined ? undefined : context.variables.valuesOf(name)
      const numbers = values?.every((value) => value.kind === 'static' && /^-?[0-9]+$/.test(value.text)) ?? false
      if (numbers || /^(?:[0-9]+|0[xX][0-9a-fA-F]+|\$[#?])$/.test(expression.value.trim())) return
      return context.evaluates(`arithmetic evaluates the text of ${expression.value}`)
    }
    case 'ArithmeticCommandExpansion':
      context.substitution(expression.script)
      return context.problem('arithmetic evaluates the output of a command')
    default:
      context.problem(`${(expression satisfies never as { type: string }).type} is arithmetic not known here`)
  }
}

const mostChoices = 32

/** Puts a word together from its pieces: every way its variables allow, and every word its braces make. */
function assemble(pieces: readonly Piece[], source: string, context: WordContext): readonly (ShellWord | WordChoice)[] {
  let words: readonly Fragment[] = [{ text: '', glob: false }]
  const several: string[] = []
  for (const [at, piece] of pieces.entries()) {
    switch (piece.kind) {
      case 'text':
        words = words.map((word) => ({ ...word, text: word.text + piece.text }))
        break
      case 'glob':
        words = words.map((word) => ({ text: word.text + piece.text, glob: true }))
        break
      case 'braces': {
        const expanded = expandBraces(piece.text)
        if (expanded === undefined || context.plainShell || several.length > 0 || words.length > 1) {
          return [dynamic(source, words, false, 'commands')]
        }
        several.push(...expanded)
        if (pieces.slice(at + 1).some(({ kind }) => kind === 'variable' || kind === 'output' || kind === 'braces')) {
          return [dynamic(source, words, false, 'commands')]
        }
        words = expanded.map((text) => ({ text: (words[0]?.text ?? '') + text, glob: words[0]?.glob ?? false }))
        break
      }
      case 'output':
        return [dynamic(source, words, piece.single, piece.from)]
      case 'variable': {
        const values = context.variables.valuesOf(piece.name)
        const from = context.variables.isFromEnvironment(piece.name) ? 'environment' : 'commands'
        const splits = values?.some(
          (value) => !piece.quoted && value.kind === 'static' && /[\s*?[\]\\]|^$/.test(value.text),
        )
        if (values === undefined || splits === true || words.length * values.length > mostChoices) {
          return [dynamic(source, words, piece.quoted, from)]
        }
        words = words.flatMap((word) =>
          values.map((value) => ({ text: word.text + value.text, glob: word.glob || value.kind === 'glob' })),
        )
        break
      }
      default:
        return [dynamic(source, words, false, (piece satisfies never) ?? 'environment')]
    }
  }
  const made = words.map(({ text, glob }): ShellWord => ({ kind: glob ? 'glob' : 'static', text }))
  if (several.length > 0 || made.length <= 1) return made
  return [{ kind: 'either', text: source, choices: made }]
}

type Fragment = { readonly text: string; readonly glob: boolean }

function dynamic(text: string, words: readonly Fragment[], single: boolean, from: Origin): ShellWord {
  const [first] = words
  const prefix = words.length === 1 && first !== undefined && !first.glob ? first.text : ''
  return { kind: 'dynamic', text, prefix, single, from }
}
