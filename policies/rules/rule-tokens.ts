import { createToken, Lexer, type TokenType } from 'chevrotain'

const Space = createToken({ name: 'Space', pattern: /[ \t\r\n]+|\\\r?\n/, group: Lexer.SKIPPED, line_breaks: true })
const Comment = createToken({ name: 'Comment', pattern: /#[^\n]*/, group: Lexer.SKIPPED })
/** A string in triple quotes, which may extend over several lines. */
export const TripleText = createToken({
  name: 'TripleText',
  label: 'a string',
  pattern: /[rR]?(?:"""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?''')/y,
  line_breaks: true,
})
/** A string in single or double quotes. */
export const Text = createToken({
  name: 'Text',
  label: 'a string',
  pattern: /[rR]?(?:"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*')/y,
  line_breaks: true,
})
/** The name of a kind of rule, of a constant, or of an argument. */
export const Name = createToken({ name: 'Name', label: 'a name', pattern: /[A-Za-z_]\w*/ })
/** Starlark keywords outside the supported subset. They have tokens so that the error message can name them. */
export const Keyword = createToken({
  name: 'Keyword',
  label: 'a keyword',
  pattern:
    /(?:def|for|if|elif|else|while|lambda|load|return|import|and|or|not|in|break|continue|class|with|try|assert|True|False|None)\b/,
  longer_alt: Name,
})
/** The keyword `pass`, a statement that has no effect. */
export const Pass = createToken({ name: 'Pass', label: '"pass"', pattern: 'pass', longer_alt: Name })
const NumberText = createToken({ name: 'Number', label: 'a number', pattern: /[0-9][\w.]*/ })
/** `(` */
export const Open = createToken({ name: 'Open', label: '"("', pattern: '(' })
/** `)` */
export const Close = createToken({ name: 'Close', label: '")"', pattern: ')' })
/** `[` */
export const OpenList = createToken({ name: 'OpenList', label: '"["', pattern: '[' })
/** `]` */
export const CloseList = createToken({ name: 'CloseList', label: '"]"', pattern: ']' })
/** `,` */
export const Comma = createToken({ name: 'Comma', label: '","', pattern: ',' })
/** `=` */
export const Equals = createToken({ name: 'Equals', label: '"="', pattern: '=' })
/** `+=` */
export const PlusEquals = createToken({ name: 'PlusEquals', label: '"+="', pattern: '+=' })
/** `+` */
export const Plus = createToken({ name: 'Plus', label: '"+"', pattern: '+' })
const Semicolon = createToken({ name: 'Semicolon', label: '";"', pattern: ';', group: Lexer.SKIPPED })

/** Any other character. It has a token so that the parser can report its position. */
export const Other = createToken({ name: 'Other', pattern: /[\ud800-\udbff][\udc00-\udfff]|[^]/, line_breaks: true })

/** All tokens, in the order in which they are tried. */
export const ruleTokens: TokenType[] = [
  ...[Space, Comment, TripleText, Text, Keyword, Pass, Name, NumberText],
  ...[Open, Close, OpenList, CloseList, Comma, Equals, PlusEquals, Plus, Semicolon, Other],
]
