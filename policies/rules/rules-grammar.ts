import { EmbeddedActionsParser, EOF, Lexer, type IToken } from 'chevrotain'
import { describeToken, expectation } from './describe-syntax-error.ts'
import { RuleError, type Position } from './rule-error.ts'
import {
  Close,
  CloseList,
  Comma,
  Equals,
  Name,
  Open,
  OpenList,
  Pass,
  Plus,
  PlusEquals,
  Text,
  TripleText,
  ruleTokens,
} from './rule-tokens.ts'
import { unescapeText } from './unescape-text.ts'

/** A value as it is written in a rule file. */
export type Expression =
  | { readonly kind: 'string'; readonly value: string; readonly at: Position }
  /** A string with an escape that stands for no character. */
  | { readonly kind: 'broken-string'; readonly at: Position }
  | { readonly kind: 'list'; readonly items: readonly Expression[]; readonly at: Position }
  | { readonly kind: 'name'; readonly name: string; readonly at: Position }
  | { readonly kind: 'sum'; readonly terms: readonly Expression[]; readonly at: Position }

/** An argument of a call: `name = value`, or a value by position. */
export type Argument = { readonly name: string | undefined; readonly value: Expression; readonly at: Position }

/** One statement of a rule file: a constant or a rule. */
export type RuleStatement =
  | {
      readonly kind: 'constant'
      readonly name: string
      readonly value: Expression
      /** Whether the statement is `+=`, which appends the value to the current value of the name. */
      readonly added: boolean
      readonly at: Position
    }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Argument[]; readonly at: Position }

/** Whether to skip checks of the grammar itself. No rule file can change the grammar, and the checks take as long as reading the rules that every run reads. */
const skipValidations = true

/** Parses the part of Starlark that rule files need: constants, calls with or without argument names, strings, lists, brackets, and `+`. */
export class RuleParser extends EmbeddedActionsParser {
  readonly file: () => RuleStatement[]

  /** @param unchecked if false, the grammar itself is checked, and the constructor throws if it is ambiguous or recurses endlessly */
  constructor(unchecked = skipValidations) {
    super(ruleTokens, { recoveryEnabled: false, maxLookahead: 2, skipValidations: unchecked })

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
            const at = positionOf(this.CONSUME(Open))
            const value = this.SUBRULE(sum)
            this.CONSUME(Close)
            return { ...value, at }
          },
        },
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

    const argument = this.RULE('argument', (): Argument =>
      this.OR([
        {
          ALT: (): Argument => {
            const token = this.CONSUME(Name)
            this.CONSUME(Equals)
            return { name: token.image, value: this.SUBRULE(sum), at: positionOf(token) }
          },
        },
        {
          ALT: (): Argument => {
            const value = this.SUBRULE1(sum)
            return { name: undefined, value, at: value.at }
          },
        },
      ]),
    )

    const idle = this.RULE('idle', () => {
      this.OR([
        { ALT: () => this.CONSUME(Pass) },
        { ALT: () => this.CONSUME(TripleText) },
        { ALT: () => this.CONSUME(Text) },
      ])
    })

    const statement = this.RULE('statement', (): RuleStatement => {
      const token = this.CONSUME(Name)
      const at = positionOf(token)
      return this.OR([
        {
          ALT: (): RuleStatement => {
            this.CONSUME(Equals)
            return { kind: 'constant', name: token.image, value: this.SUBRULE(sum), added: false, at }
          },
        },
        {
          ALT: (): RuleStatement => {
            this.CONSUME(PlusEquals)
            return { kind: 'constant', name: token.image, value: this.SUBRULE1(sum), added: true, at }
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
      this.MANY(() =>
        this.OR([{ ALT: () => this.SUBRULE(idle) }, { ALT: () => statements.push(this.SUBRULE(statement)) }]),
      )
      return statements
    })

    this.performSelfAnalysis()
  }
}

// The lexer and the parser. They are created when the first file is read, which saves time in a run without rules.
let made: { readonly lexer: Lexer; readonly parser: RuleParser } | undefined

/** Parses the text of a rule file. Throws a `RuleError` for the first error that it finds. */
export function parseRules(path: string, text: string): readonly RuleStatement[] {
  made ??= { lexer: new Lexer(ruleTokens, { positionTracking: 'full', skipValidations }), parser: new RuleParser() }
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
  throw new RuleError(path, at, describeToken(found), expectation(error.message))
}

const deepest = 16

/** Refuses brackets that are nested too deeply: a rule doesn't need them, and they could overflow the parser's stack. */
function refuseDepth(path: string, read: readonly IToken[]): void {
  let depth = 0
  for (const token of read) {
    if (token.tokenType === Open || token.tokenType === OpenList) depth++
    if (token.tokenType === Close || token.tokenType === CloseList) depth--
    if (depth > deepest)
      throw new RuleError(path, positionOf(token), 'brackets are nested too deeply', 'a list of strings')
  }
}

function positionOf(token: IToken): Position {
  return { line: token.startLine ?? 1, column: token.startColumn ?? 1 }
}

function endOf(token: IToken | undefined): Position {
  return { line: token?.endLine ?? 1, column: (token?.endColumn ?? 0) + 1 }
}

/** Returns the text between the quotes, as a string or, if it contains an invalid escape, a broken string. A raw string (`r"…"`) has no escapes. */
function textOf(token: IToken, quotes: 1 | 3): Expression {
  const raw = /^[rR]/.test(token.image)
  const inner = token.image.slice(quotes + (raw ? 1 : 0), -quotes)
  const [value, at] = [raw ? inner : unescapeText(inner), positionOf(token)]
  return value === undefined ? { kind: 'broken-string', at } : { kind: 'string', value, at }
}
