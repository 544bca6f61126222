import { scanComment, scanNewline, skipBlanks } from './blanks.ts'
import { scanDelimiter } from './heredocs.ts'
import type { Source } from './source.ts'
import { fail } from './token.ts'
import { scanTest } from './tests.ts'
import { scanArithmetic, scanWord } from './scan-words.ts'

const operators = /;;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||<<<|<<-|<<|<>|<&|<|>>|>&|>\||>|\(|\)/y
const bashOnly = /^(?:;;&|;&|&>>?|\|&|<<<)$/
/** Reserved words after which a command or another reserved word may begin. */
const leading = /^(?:if|then|elif|else|fi|while|until|do|done|time|\{|\}|!)$/
const assignment = /^[A-Za-z_]\w*(?:\[[^\]\s]*\])?\+?=/

/** A construct that is open at the current position: a subshell, a `case` that expects patterns, or the commands of one of its branches. */
type Frame = 'subshell' | 'patterns' | 'branch'

/**
 * Scans commands up to, but not including, the parenthesis that closes a substitution, or up to the end. Recognizes just enough of the grammar to
 * tell comments, `case` patterns and arithmetic from other text.
 */
export function scanCommands(source: Source, close: ')' | ''): void {
  const frames: Frame[] = []
  const outer = source.pending
  source.pending = []
  let first = true
  for (;;) {
    skipBlanks(source)
    const pos = source.at
    const character = source.peek()
    const frame = frames.at(-1)
    if (character === '' || (character === ')' && frame === undefined)) break
    if (character === '\n') {
      scanNewline(source)
      first = true
    } else if (character === '#') scanComment(source)
    else if (/[;&|()<>]/.test(character) && !/^[<>]\($/.test(character + source.peek(1))) {
      if (character === '(' && source.peek(1) === '(' && first && frame !== 'patterns') {
        source.bashOnly('`((`')
        source.at += 2
        scanArithmetic(source)
        source.token('arithmetic', pos)
        first = false
        continue
      }
      const operator = source.match(operators) ?? ''
      if (bashOnly.test(operator)) source.bashOnly(`\`${operator}\``)
      source.at += operator.length
      if (/[<>]/.test(operator)) {
        source.token('structure', pos, operator)
        scanTarget(source, operator)
      } else first = scanOperator(source, operator, pos, frames, first)
    } else first = frame === 'patterns' ? scanPattern(source, frames) : scanCommandWord(source, frames, first)
  }
  if (frames.length > 0) fail('a group or a case statement is not closed')
  if (source.pending.length > 0) fail('a heredoc has no body')
  if (source.peek() !== close) fail('a substitution is not closed, or a parenthesis has no match')
  source.pending = outer
}

/** Handles an operator that isn't a redirection. Returns whether a command begins after it. */
function scanOperator(source: Source, operator: string, pos: number, frames: Frame[], first: boolean): boolean {
  const frame = frames.at(-1)
  if (operator === ';') return true
  if (frame === 'patterns') {
    if (operator === '(') return false
    source.token('structure', pos, operator)
    if (operator === ')') frames[frames.length - 1] = 'branch'
    else if (operator !== '|') fail(`${operator} among the patterns of a case`)
    return true
  }
  source.token('structure', pos, operator)
  if (operator === '(') {
    if (!first) fail('a parenthesis where none is expected')
    source.step(1)
    frames.push('subshell')
  } else if (operator === ')') {
    if (frames.pop() !== 'subshell') fail('a parenthesis without a match')
    source.step(-1)
    return false
  } else if (operator.startsWith(';')) {
    if (frame !== 'branch') fail(`${operator} outside of a case`)
    frames[frames.length - 1] = 'patterns'
  }
  return true
}

function scanTarget(source: Source, operator: string): void {
  if (operator === '<<' || operator === '<<-') return scanDelimiter(source, operator === '<<-')
  skipBlanks(source)
  const pos = source.at
  scanWord(source)
  source.token('word', pos)
  if (source.plain && /^[<>]&$/.test(operator) && !/^(?:[0-9]+|-)$/.test(source.text.slice(pos, source.at)))
    fail('plain sh can copy descriptors only by number')
}

function scanPattern(source: Source, frames: Frame[]): boolean {
  const pos = source.at
  scanWord(source, false)
  if (source.text.slice(pos, source.at) !== 'esac') {
    source.token('word', pos)
    return false
  }
  source.token('structure', pos, 'esac')
  source.step(-1)
  frames.pop()
  return true
}

/** Scans a word of a command. Returns whether a command begins after it. */
function scanCommandWord(source: Source, frames: Frame[], first: boolean): boolean {
  const pos = source.at
  const declared = source.match(/[A-Za-z_]\w*(?:\[[\w@*$]+\])?\+?=\(/y)
  if (declared !== undefined) {
    scanArray(source, pos + declared.length)
    source.token('word', pos)
    return false
  }
  const mark = source.tokens.length
  scanWord(source)
  const raw = source.text.slice(pos, source.at)
  // Wildcards and braces in the value of an assignment aren't expanded to several words, so they don't count as patterns.
  if (assignment.test(raw)) dropPatterns(source, mark)
  if (/[<>]/.test(source.peek())) {
    if (/^\{\w+\}$/.test(raw)) fail('a variable receives the number of a descriptor')
    if (/^[0-9]+$/.test(raw)) {
      if (raw.length > 3) fail('the number of a descriptor is too large')
      source.token('descriptor', pos)
      return first
    }
  }
  if (!first) {
    source.token('word', pos)
    return false
  }
  return scanFirst(source, frames, raw, pos)
}

function dropPatterns(source: Source, mark: number): void {
  const kept = source.tokens.slice(mark).filter(({ kind }) => kind !== 'pattern')
  source.tokens.splice(mark, source.tokens.length, ...kept)
}

/** Scans a word where a command begins: a reserved word, the name of a function, or the name of a program. */
function scanFirst(source: Source, frames: Frame[], raw: string, pos: number): boolean {
  if (raw === 'coproc') fail('coproc runs in parallel with the rest')
  if (raw === '[[') return scanTest(source, pos)
  if (raw === 'esac') {
    source.token('structure', pos, raw)
    if (frames.pop() !== 'branch') fail('esac without a case')
    source.step(-1)
    return true
  }
  if (leading.test(raw)) {
    if (/^(?:if|while|until|\{)$/.test(raw)) source.step(1)
    if (/^(?:fi|done|\})$/.test(raw)) source.step(-1)
    source.token('structure', pos, raw)
    skipBlanks(source)
    if (raw === 'time' && source.match(/-p(?=[ \t])/y) !== undefined) source.at += 2
    return true
  }
  if (raw === 'case') {
    source.token('structure', pos, raw)
    named(source, false)
    reserved(source, 'in')
    source.step(1)
    frames.push('patterns')
    return false
  }
  if (raw === 'for' || raw === 'select') {
    source.step(1)
    source.token('structure', pos, raw)
    skipBlanks(source)
    const start = source.at
    if (source.starts('((')) {
      source.bashOnly('`for ((`')
      source.at += 2
      scanArithmetic(source, /[\w \t\n+\-*/%<>=!&|^~?:,.#@[\];]/)
      source.token('arithmetic', start)
      return true
    }
    named(source, false)
    return !reserved(source, 'in', true)
  }
  if (raw === 'function') {
    source.bashOnly('`function`')
    named(source, true)
    return true
  }
  source.token('word', pos)
  return source.match(/[ \t]*\([ \t]*\)/y) === undefined ? false : parentheses(source)
}

/** Scans the word after a reserved word, such as the variable of a loop. The name of a function may be followed by parentheses. */
function named(source: Source, isFunction: boolean): void {
  skipBlanks(source)
  const pos = source.at
  scanWord(source, false)
  source.token('word', pos)
  if (isFunction) parentheses(source)
}

function parentheses(source: Source): true {
  source.at += source.match(/[ \t]*\([ \t]*\)/y)?.length ?? 0
  return true
}

/** Scans the `in` of a loop or a `case`, possibly after newlines. Returns whether it was found; if it is missing but required, the scan fails. */
function reserved(source: Source, word: string, optional = false): boolean {
  const start = source.at
  for (skipBlanks(source); source.peek() === '\n'; skipBlanks(source)) scanNewline(source)
  if (source.match(/in(?=[\s;&|]|$)/y) === word) {
    const pos = source.at
    source.at += word.length
    source.token('structure', pos, word)
    return true
  }
  if (!optional) fail(`${word} was expected`)
  source.at = start
  return false
}

/** Scans the elements of an array up to its closing parenthesis, where the word that contains the array must end. */
function scanArray(source: Source, start: number): void {
  source.bashOnly('arrays')
  source.at = start
  for (;;) {
    skipBlanks(source)
    const pos = source.at
    const character = source.peek()
    if (character === ')') break
    if (character === '\n') {
      source.newlineInside()
      source.at++
    } else if (character === '#') scanComment(source)
    else if (character === '[') fail('an array element with a subscript')
    else {
      scanWord(source)
      source.token('word', pos)
    }
  }
  source.at++
  if (!/^[\s;&|)]?$/.test(source.peek())) fail('other text directly follows the closing parenthesis of an array')
}
