import type { Source } from './source.ts'
import { fail, ScanError } from './token.ts'

const breaking = new Set(['', ' ', '\t', '\n', ';', '&', '|', '(', ')'])

/** Matches a possible brace expansion in a word whose quotes and expansions have been replaced with NULs. */
const brace = /\{[^{}]*(?:,|\.\.)/

/** Scans one word from its first character to its end (bash(1), QUOTING and EXPANSION). */
export function scanWord(source: Source, expands = true): void {
  const pos = source.at
  let skeleton = ''
  for (;;) {
    const character = source.peek()
    const next = source.peek(1)
    if ((character === '<' || character === '>') && next === '(') scanProcess(source)
    else if (character === '<' || character === '>') break
    else if (character === '(' && /[?*+@!]/.test(skeleton.at(-1) ?? '')) fail('an extended pattern')
    else if (breaking.has(character)) break
    else if (character === '\\') {
      if (next === '\n' || next === '') fail('a line is continued within a word')
      source.at += 2
    } else if (character === "'") scanSingle(source)
    else if (character === '"') scanDouble(source)
    else if (character === '`') scanBackticks(source, false)
    else if (character === '$') scanDollar(source, false)
    else {
      source.at++
      if (expands && /[*?]/.test(character)) source.tokens.push({ kind: 'pattern', pos: source.at - 1, end: source.at })
      skeleton += character
      continue
    }
    skeleton += '\0'
  }
  if (source.at === pos) fail('a word was expected')
  if (expands && skeleton.includes('[') && skeleton.indexOf('[') < skeleton.lastIndexOf(']'))
    source.token('pattern', pos, '[')
  if (expands && brace.test(skeleton) && skeleton.includes('}')) source.token('pattern', pos, '{')
}

function scanProcess(source: Source): void {
  source.bashOnly('process substitution')
  source.newlineInside()
  const pos = source.at
  source.at += 2
  source.nested(() => source.commands(source, ')'))
  source.at++
  source.token('process', pos)
}

function scanSingle(source: Source): void {
  const pos = source.at
  const close = source.text.indexOf("'", pos + 1)
  if (close < 0 || close >= source.end) fail('a quote is not closed')
  if (source.text.slice(pos, close).includes('\n')) source.newlineInside()
  source.at = close + 1
  source.token('single', pos)
}

function scanDouble(source: Source): void {
  const pos = source.at++
  scanQuoted(source, '"')
  source.at++
  source.token('double', pos)
}

/** Scans the expansions between double quotes or in a heredoc's body: up to the closing quote, or up to the end. */
export function scanQuoted(source: Source, close: '"' | ''): void {
  for (;;) {
    const character = source.peek()
    if (character === close) return
    if (character === '') fail('a quote is not closed')
    if (character === '\\') {
      const last = source.tokens.at(-1)
      // If the line is continued directly after an expansion, the name of its variable may continue on the next line.
      if (source.peek(1) === '\n' && last?.end === source.at) fail('a line is continued after an expansion')
      source.at += source.peek(1) === '' ? 1 : 2
    } else if (character === '`') scanBackticks(source, true)
    else if (character === '$') scanDollar(source, true)
    else {
      if (character === '\n' && close === '"') source.newlineInside()
      source.at++
    }
  }
}

/**
 * Scans a substitution in backticks, which ends at the next backtick. Fails if it contains a backslash or, within double quotes, a double quote,
 * because the text that runs would differ from the text as written.
 */
function scanBackticks(source: Source, quoted: boolean): void {
  const pos = source.at
  const close = source.text.indexOf('`', pos + 1)
  if (close < 0 || close >= source.end) fail('a backtick is not closed')
  const inner = source.text.slice(pos + 1, close)
  if (inner.includes('\\') || (quoted && inner.includes('"'))) fail('backticks with escapes in them')
  if (inner.includes('\n')) source.newlineInside()
  source.at++
  source.nested(() => source.within(close, () => source.commands(source, '')))
  source.at = close + 1
  source.token('command', pos)
}

function scanDollar(source: Source, quoted: boolean): void {
  const pos = source.at
  const next = source.peek(1)
  if (source.starts('$((')) {
    source.at += 3
    source.nested(() => scanArithmetic(source))
    source.token('arithmetic', pos)
  } else if (next === '(') {
    source.newlineInside()
    source.at += 2
    source.nested(() => source.commands(source, ')'))
    source.at++
    source.token('command', pos)
  } else if (next === '{') {
    source.at += 2
    source.nested(() => scanParameter(source, quoted))
    source.token('parameter', pos)
  } else if (next === '[') fail('arithmetic in the old form $[…]')
  else if (next === '\\' && source.peek(2) === '\n') fail('a line is continued after a $')
  else if (!quoted && next === '"') fail('a $"…" string, which the shell translates')
  else if (!quoted && next === "'") scanAnsi(source)
  else {
    const name = source.match(/\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/y)
    source.at += name?.length ?? 1
    if (name !== undefined) source.token('simple', pos)
  }
}

function scanAnsi(source: Source): void {
  source.bashOnly("`$'…'`")
  const pos = source.at
  source.at += 2
  while (source.peek() !== "'") {
    if (source.peek() === '') fail('a quote is not closed')
    if (source.peek() === '\n') source.newlineInside()
    source.at += source.peek() === '\\' ? 2 : 1
  }
  source.at++
  source.token('ansi', pos)
}

/**
 * The maximum length of an arithmetic expression, in characters. There is a limit because the depth of the parser's recursion can grow with the number of
 * operators.
 */
const longestArithmetic = 1_000

/**
 * Scans arithmetic up to its `))`. Fails if the text could also be a command in double parentheses.
 *
 * @param allowed matches the characters that may occur, apart from parentheses and expansions
 */
export function scanArithmetic(source: Source, allowed = /[\w \t\n+\-*/%<>=!&|^~?:,.#@[\]]/): void {
  const start = source.at
  for (let depth = 0; ;) {
    const character = source.peek()
    if (source.at - start > longestArithmetic) throw new ScanError('an arithmetic expression is too long', true)
    if (character === '') fail('arithmetic is not closed')
    if (character === '\n') source.newlineInside()
    if (character === '$') scanDollar(source, true)
    else if (character === '`') scanBackticks(source, true)
    else {
      source.at++
      if (character === '(') depth++
      else if (character === ')' && depth > 0) depth--
      else if (character === ')') {
        if (source.peek() !== ')') fail('a parenthesis may belong to arithmetic or to a command')
        source.at++
        return
      } else if (!allowed.test(character)) fail(`${JSON.stringify(character)} in arithmetic`)
    }
  }
}

/** Scans `${…}` after the opening brace: a name, a subscript, and everything up to the closing brace. */
function scanParameter(source: Source, quoted: boolean): void {
  const special = source.match(/[#?$!-][}:#%/+=-]/y)?.[0]
  const name = source.match(/[!#]?(?:[A-Za-z_]\w*|[0-9]+|[@*])/y) ?? special
  if (name === undefined) fail('an expansion that is not understood')
  if (source.plain && name.startsWith('!') && name.length > 1) fail("plain sh doesn't support ${!name}")
  source.at += name.length
  if (source.peek() === '[') {
    source.bashOnly('arrays')
    source.at++
    while (source.peek() !== ']') {
      if (source.peek() === '$') scanDollar(source, true)
      else if (/[\w@* +-]/.test(source.peek())) source.at++
      else fail('a subscript that is not understood')
    }
    source.at++
  }
  if (source.plain && !/[}:+=?#%-]/.test(source.peek())) fail('plain sh does not support this form of expansion')
  if (source.plain && source.peek() === ':' && !/[+=?-]/.test(source.peek(1)))
    fail('plain sh does not support this form of expansion')
  for (;;) {
    const character = source.peek()
    const next = source.peek(1)
    if (character === '') fail('an expansion is not closed')
    if (character === '}') break
    if (character === '\n') source.newlineInside()
    if (character === '\\') {
      if (next === '\n' || next === '') fail('a line is continued within an expansion')
      source.at += 2
    } else if (character === "'" || character === '"') {
      // Shells disagree about the meaning of quotes in an expansion that is between double quotes or in a heredoc.
      if (quoted) fail('quotes inside a quoted expansion')
      if (character === "'") scanSingle(source)
      else scanDouble(source)
    } else if (character === '`') scanBackticks(source, quoted)
    else if (character === '$') scanDollar(source, quoted)
    else if (!quoted && /[<>]/.test(character) && next === '(') fail('a process substitution in an expansion')
    else source.at++
  }
  source.at++
}
