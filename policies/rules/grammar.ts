import { createToken, EmbeddedActionsParser, EOF, Lexer, type IToken, type TokenType } from 'chevrotain'
import { RuleError, type Position } from './rule-error.ts'

/** A value as the file writes it. */
export type Expression =
  | { readonly kind: 'string'; readonly value: string; readonly at: Position }
  | { readonly kind: 'list'; readonly items: readonly Expression[]; readonly at: Position }
  | { readonly kind: 'name'; readonly name: string; readonly at: Position }
  | { readonly kind: 'sum'; readonly terms: readonly Expression[]; readonly at: Position }

/** `name = value` in a call. */
export type Argument = { readonly name: string; readonly value: Expression; readonly at: Position }

/** One line of a rule file: a constant or a rule. */
export type RuleStatement =
  | { readonly kind: 'constant'; readonly name: string; readonly value: Expression; readonly at: Position }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Argument[]; readonly at: Position }

const Space = createToken({ name: 'Space', pattern: /[ \t\r\n]+|\\\r?\n/, group: Lexer.SKIPPED, line_breaks: true })
const Comment = createToken({ name: 'Comment', pattern: /#[^\n]*/, group: Lexer.SKIPPED })
const TripleText = createToken({
  name: 'TripleText',
  label: 'a string',
  pattern: /[rR]?(?:"""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?''')/,
  line_breaks: true,
})
const Text = createToken({
  name: 'Text',
  label: 'a string',
  pattern: /[rR]?(?:"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*')/,
  line_breaks: true,
})
const Name = createToken({ name: 'Name', label: 'a name', pattern: /[A-Za-z_]\w*/ })
/** Starlark beyond the subset. Kept as tokens so that the message can name them. */
const Keyword = createToken({
  name: 'Keyword',
  label: 'a keyword',
  pattern:
    /(?:def|for|if|elif|else|while|lambda|load|return|import|and|or|not|in|pass|break|continue|class|with|try|assert|True|False|None)\b/,
  longer_alt: Name,
})
const NumberText = createToken({ name: 'Number', label: 'a number', pattern: /[0-9][\w.]*/ })
const Open = createToken({ name: 'Open', label: '"("', pattern: '(' })
const Close = createToken({ name: 'Close', label: '")"', pattern: ')' })
const OpenList = createToken({ name: 'OpenList', label: '"["', pattern: '[' })
const CloseList = createToken({ name: 'CloseList', label: '"]"', pattern: ']' })
const Comma = createToken({ name: 'Comma', label: '","', pattern: ',' })
const Equals = createToken({ name: 'Equals', label: '"="', pattern: '=' })
const Plus = createToken({ name: 'Plus', label: '"+"', pattern: '+' })
const Semicolon = createToken({ name: 'Semicolon', label: '";"', pattern: ';', group: Lexer.SKIPPED })

/** Anything else, so that the parser can say where it stands. */
const Other = createToken({ name: 'Other', pattern: /[\ud800-\udbff][\udc00-\udfff]|[^]/, line_breaks: true })

const tokens: TokenType[] = [
  ...[Space, Comment, TripleText, Text, Keyword, Name, NumberText],
  ...[Open, Close, OpenList, CloseList, Comma, Equals, Plus, Semicolon, Other],
]

/** Checks of the grammar itself, which no rule file can change: they take as long as reading the rules that every run reads. */
const skipValidations = true

/** The part of Starlark that rule files need: constants, calls with named arguments, strings, lists, `+`. */
export class RuleParser extends EmbeddedActionsParser {
  readonly file: () => RuleStatement[]

  /** @param unchecked false has the grammar itself checked, and throws where it is ambiguous or never ends */
  constructor(unchecked = skipValidations) {
    super(tokens, { recoveryEnabled: false, maxLookahead: 2, skipValidations: unchecked })

    const sum = this.RULE('sum', (): Expression => {
      const first = this.SUBRULE(term)
      const terms = [first]
      this.MANY(() => {
        this.CONSUME(Plus)
        terms.push(this.SUBRULE1(term))
      })
      return terms.length === 1 ? first : { kind: 'sum', terms, at: first.at }
    })

    const term = this.RULE('term', (): Expression =>
      this.OR([
        { ALT: () => textOf(this.CONSUME(TripleText), 3) },
        { ALT: () => textOf(this.CONSUME(Text), 1) },
        { ALT: () => this.SUBRULE(list) },
        {
          ALT: (): Expression => {
            const token = this.CONSUME(Name)
            return { kind: 'name', name: token.image, at: positionOf(token) }
          },
        },
      ]),
    )

    const list = this.RULE('list', (): Expression => {
      const at = positionOf(this.CONSUME(OpenList))
      const items: Expression[] = []
      this.OPTION(() => {
        items.push(this.SUBRULE(sum))
        this.MANY(() => {
          this.CONSUME(Comma)
          this.OPTION1(() => items.push(this.SUBRULE1(sum)))
        })
      })
      this.CONSUME(CloseList)
      return { kind: 'list', items, at }
    })

    const argument = this.RULE('argument', (): Argument => {
      const token = this.CONSUME(Name)
      this.CONSUME(Equals)
      return { name: token.image, value: this.SUBRULE(sum), at: positionOf(token) }
    })

    const statement = this.RULE('statement', (): RuleStatement => {
      const token = this.CONSUME(Name)
      const at = positionOf(token)
      return this.OR([
        {
          ALT: (): RuleStatement => {
            this.CONSUME(Equals)
            return { kind: 'constant', name: token.image, value: this.SUBRULE(sum), at }
          },
        },
        {
          ALT: (): RuleStatement => {
            const given: Argument[] = []
            this.CONSUME(Open)
            this.OPTION(() => {
              given.push(this.SUBRULE(argument))
              this.MANY(() => {
                this.CONSUME(Comma)
                this.OPTION1(() => given.push(this.SUBRULE1(argument)))
              })
            })
            this.CONSUME(Close)
            return { kind: 'call', name: token.image, arguments: given, at }
          },
        },
      ])
    })

    this.file = this.RULE('file', (): RuleStatement[] => {
      const statements: RuleStatement[] = []
      this.MANY(() => statements.push(this.SUBRULE(statement)))
      return statements
    })

    this.performSelfAnalysis()
  }
}

// Made when the first file is read: a run without rules doesn't pay for them.
let made: { readonly lexer: Lexer; readonly parser: RuleParser } | undefined

/** Reads the text of a rule file, or throws a `RuleError` for the first thing that is wrong with it. */
export function parseRules(path: string, text: string): readonly RuleStatement[] {
  made ??= { lexer: new Lexer(tokens, { positionTracking: 'full', skipValidations }), parser: new RuleParser() }
  const { lexer, parser } = made
  const read = lexer.tokenize(text)
  refuseDepth(path, read.tokens)
  parser.input = read.tokens
  const statements = parser.file()
  const [error] = parser.errors
  if (error === undefined) return statements
  const found = error.token.tokenType === EOF ? undefined : error.token
  const last = read.tokens.at(-1)
  const at = found === undefined ? endOf(last) : positionOf(found)
  throw new RuleError(path, at, complaint(found), expectation(error.message))
}

const deepest = 16

/** Brackets this deep mean nothing in a rule, and would exhaust a parser that follows them. */
function refuseDepth(path: string, read: readonly IToken[]): void {
  let depth = 0
  for (const token of read) {
    if (token.tokenType === Open || token.tokenType === OpenList) depth++
    if (token.tokenType === Close || token.tokenType === CloseList) depth--
    if (depth > deepest)
      throw new RuleError(path, positionOf(token), 'lists are nested too deeply', 'a list of strings')
  }
}

function complaint(found: IToken | undefined): string {
  if (found === undefined) return 'the file ends in the middle of a rule'
  if (found.tokenType === Keyword) {
    return `"${found.image}" is Starlark that rule files here don't have: they hold rules and constants, no code`
  }
  if (/^["']/.test(found.image) && found.tokenType === Other) return 'a string has no end on its line'
  return `${JSON.stringify(found.image)} can't stand here`
}

function expectation(message: string): string {
  const token = /Expecting (?:token of type )?--> (.*) <-- but/.exec(message)?.[1]
  if (token !== undefined) return token
  return /end of input|EOF/i.test(message)
    ? 'a rule such as prefix_rule(pattern = ["git", "push"])'
    : 'a string, a list or a name'
}

function positionOf(token: IToken): Position {
  return { line: token.startLine ?? 1, column: token.startColumn ?? 1 }
}

function endOf(token: IToken | undefined): Position {
  return { line: token?.endLine ?? 1, column: (token?.endColumn ?? 0) + 1 }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' }

/** The text between the quotes; a raw string (`r"…"`) keeps its backslashes. */
function textOf(token: IToken, quotes: 1 | 3): Expression {
  const raw = /^[rR]/.test(token.image)
  const inner = token.image.slice(quotes + (raw ? 1 : 0), -quotes)
  const value = raw ? inner : inner.replace(/\\([^])/g, (all, letter: string) => unescape(all, letter))
  return { kind: 'string', value, at: positionOf(token) }
}

/** Starlark keeps a backslash before a letter that needs none. */
function unescape(all: string, letter: string): string {
  if (/["'\\]/.test(letter)) return letter
  return escapes[letter] ?? all
}
