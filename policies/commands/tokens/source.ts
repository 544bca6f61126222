import { fail, ScanError, type Token, type TokenKind } from './token.ts'

/** A heredoc whose body begins after the next newline. */
type PendingHeredoc = { readonly value: string; readonly strips: boolean; readonly quoted: boolean }

const deepest = 32
const mostTokens = 5_000

/** The text that is being scanned, the current position, and the tokens so far. */
export class Source {
  readonly tokens: Token[] = []
  pending: PendingHeredoc[] = []
  at = 0
  /** The end of the text, or of the part of it that is being scanned. */
  end: number
  readonly text: string
  /** Whether the text is for a plain POSIX shell. If so, syntax that only bash understands is refused. */
  readonly plain: boolean
  /** Scans the commands of a substitution up to its closing parenthesis. */
  readonly commands: (source: Source, close: ')' | '') => void
  #depth = 0

  constructor(text: string, plain: boolean, commands: (source: Source, close: ')' | '') => void) {
    this.text = text
    this.plain = plain
    this.commands = commands
    this.end = text.length
  }

  /** The character `ahead` places after the current one; '' past the end. */
  peek(ahead = 0): string {
    const index = this.at + ahead
    return index < this.end ? (this.text[index] ?? '') : ''
  }

  starts(text: string): boolean {
    return this.at + text.length <= this.end && this.text.startsWith(text, this.at)
  }

  /** The text that a sticky expression matches at the current position, or undefined. */
  match(expression: RegExp): string | undefined {
    expression.lastIndex = this.at
    const found = expression.exec(this.text)?.[0]
    return found === undefined || this.at + found.length > this.end ? undefined : found
  }

  token(kind: TokenKind, pos: number, text?: string): void {
    if (this.tokens.length >= mostTokens) throw new ScanError('it has more parts than can be analysed', true)
    this.tokens.push({ kind, pos, end: this.at, ...(text === undefined ? {} : { text }) })
  }

  bashOnly(what: string): void {
    if (this.plain) fail(`plain sh doesn't support ${what}`)
  }

  /**
   * Checks a newline inside a construct, or the beginning of a construct that may contain one. Fails if a heredoc is pending, because shells disagree
   * about where its body then begins.
   */
  newlineInside(): void {
    if (this.pending.length > 0) fail('a heredoc begins within a line that continues')
  }

  /** Raises or lowers the nesting level by one, when a construct that isn't scanned by a separate function begins or ends. */
  step(by: 1 | -1): void {
    this.#depth += by
    if (this.#depth > deepest) throw new ScanError('it is nested too deeply', true)
  }

  /** Runs `scan` with the level of nesting increased by one. */
  nested<T>(scan: () => T): T {
    if (++this.#depth > deepest) throw new ScanError('it is nested too deeply', true)
    const result = scan()
    this.#depth--
    return result
  }

  /** Runs `scan` as if the text ended at `end`. */
  within(end: number, scan: () => void): void {
    const outer = this.end
    this.end = end
    scan()
    if (this.at !== end) fail('a nested construct is not closed')
    this.end = outer
  }
}
