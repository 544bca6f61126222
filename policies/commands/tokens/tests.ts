import { scanComment, scanNewline, skipBlanks } from './blanks.ts'
import type { Source } from './source.ts'
import { fail } from './token.ts'
import { scanWord } from './scan-words.ts'

const operator = /^(?:-[a-zA-Z]|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)|==?|!=|=~|!)$/

/** Scans `[[ … ]]` (bash(1), Compound Commands), whose first word, at `start`, has already been scanned. */
export function scanTest(source: Source, start: number): boolean {
  source.bashOnly('`[[`')
  source.token('structure', start, '[[')
  for (;;) {
    skipBlanks(source)
    const pos = source.at
    const character = source.peek()
    if (character === '') fail('[[ is not closed')
    else if (character === '\n') scanNewline(source)
    else if (character === '#') scanComment(source)
    else if (/[()]/.test(character)) {
      source.step(character === '(' ? 1 : -1)
      mark(source, 1)
    } else if (source.starts('&&') || source.starts('||')) mark(source, 2)
    else if (/[<>]/.test(character) && source.peek(1) !== '(') mark(source, 1)
    else if (/[;&|]/.test(character)) fail(`${character} in [[`)
    else {
      scanWord(source, false)
      const raw = source.text.slice(pos, source.at)
      if (raw === ']]') {
        source.token('structure', pos, raw)
        return true
      }
      if (!operator.test(raw)) source.token('word', pos)
      else source.token('structure', pos, 'test')
      if (raw === '=~') scanExpression(source)
    }
  }
}

function mark(source: Source, length: number): void {
  const pos = source.at
  source.at += length
  const text = source.text.slice(pos, source.at)
  source.token('structure', pos, /[<>]/.test(text) ? 'test' : text)
}

/** Scans the regular expression after `=~`, including parentheses and the vertical bars inside them. */
function scanExpression(source: Source): void {
  skipBlanks(source)
  const pos = source.at
  for (let depth = 0; ;) {
    const character = source.peek()
    if (character === '(') depth++
    else if (character === ')') depth--
    else if (/[\s;&<>]/.test(character) || character === '' || (character === '|' && depth === 0)) break
    if (depth < 0) fail('a regular expression contains an unmatched parenthesis')
    if (/[()|]/.test(character)) source.at++
    else scanWord(source, false)
  }
  if (source.at === pos) fail('a regular expression was expected')
  source.token('word', pos)
}
