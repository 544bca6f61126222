import {
  createToken,
  createTokenInstance,
  EmbeddedActionsParser,
  EOF,
  LLkLookaheadStrategy,
  type ILookaheadStrategy,
  type IToken,
  type TokenType,
} from 'chevrotain'
import type { RunToken } from './scan-patch.ts'

export type Token = IToken & { readonly run: RunToken }

/** Names a kind of token. Chevrotain wants a pattern, but our own scanner cuts the tokens. */
export function tokenType(name: string): TokenType {
  return createToken({ name, pattern: /a/ })
}

const endOfInput = createTokenInstance(EOF, '', 0, 0, 0, 0, 0, 0)

const eager = new LLkLookaheadStrategy({ maxLookahead: 1 })

/**
 * Chevrotain's own lookahead strategy, made lazy: the lookahead function for a rule's alternative or optional part is built only when a patch first
 * needs it, since few patches use every rule.
 */
const lazy: ILookaheadStrategy = {
  validate: (options) => eager.validate(options),
  buildLookaheadForAlternation: (options) => {
    let decide: ReturnType<ILookaheadStrategy['buildLookaheadForAlternation']> | undefined
    return function (this: unknown, alternatives) {
      decide ??= eager.buildLookaheadForAlternation(options)
      return decide.call(this, alternatives)
    }
  },
  buildLookaheadForOptional: (options) => {
    let decide: ReturnType<ILookaheadStrategy['buildLookaheadForOptional']> | undefined
    return function (this: unknown) {
      decide ??= eager.buildLookaheadForOptional(options)
      return decide.call(this)
    }
  },
}

/** A parser of Chevrotain's that asks our scanner for one token after the other, so that never all of them are in memory. */
export abstract class RunParser extends EmbeddedActionsParser {
  #scan: () => RunToken | undefined = () => undefined
  #before: IToken = endOfInput
  #next: IToken = endOfInput
  #consumed = 0

  /** @param unchecked if false, the grammar itself is checked, and an error is thrown if it is ambiguous or left-recursive */
  constructor(types: readonly TokenType[], unchecked: boolean) {
    // One token of lookahead is always enough. By default, the grammar itself isn't checked, because the check would delay each start of the program.
    super([...types], { maxLookahead: 1, skipValidations: unchecked, lookaheadStrategy: lazy })
  }

  /** Ends the definition of the rules. */
  protected finishRules(): void {
    this.performSelfAnalysis()
    // Deleting properties makes V8 keep the object's properties in a slow table. V8 optimizes the table again when the object becomes a prototype.
    Object.create(this)
  }

  /**
   * Runs a step of Chevrotain's self-analysis, but skips the step `toFastProps`. That step does the same optimization as `finishRules`, but a
   * hundred properties are deleted after it, and each of these deletions would then be slow.
   */
  protected TRACE_INIT(step: string, act: () => unknown): unknown {
    return step === 'toFastProps' ? undefined : act()
  }

  protected abstract typeOf(run: RunToken): TokenType

  /** Sets the source of the tokens. */
  protected open(scan: () => RunToken | undefined): void {
    this.input = []
    this.#scan = scan
    this.#before = endOfInput
    this.#next = this.#read()
  }

  /** Drops all tokens: the parser lives longer than a patch. */
  protected close(): void {
    this.#scan = () => undefined
    this.#before = this.#next = endOfInput
  }

  /** The next token; undefined at the end. */
  protected get next(): RunToken | undefined {
    return (this.#next as Partial<Token>).run
  }

  /** The token before the next one; undefined at the start. */
  protected get before(): RunToken | undefined {
    return (this.#before as Partial<Token>).run
  }

  #read(): IToken {
    const run = this.#scan()
    if (run === undefined) return endOfInput
    const tokenType = this.typeOf(run)
    const { start, end, line } = run
    const tokenTypeIdx = tokenType.tokenTypeIdx ?? 0
    return { run, image: '', startOffset: start, endOffset: end, startLine: line, tokenType, tokenTypeIdx } as Token
  }

  // What follows replaces Chevrotain's array of tokens.

  protected override LA(distance: number): IToken {
    return distance === 0 ? this.#before : this.#next
  }

  protected override LA_FAST(): IToken {
    return this.#next
  }

  protected consumeToken(): void {
    this.#before = this.#next
    this.#next = this.#read()
    this.#consumed++
  }

  /** Chevrotain compares the positions before and after a repetition. */
  protected getLexerPosition(): number {
    return this.#consumed
  }

  /** Called when a rule fails. The tokens behind the error are read by the next rule. */
  protected moveToTerminatedState(): void {}

  /** Chevrotain adds the tokens that mark the end to its array. */
  protected onBeforeParse(): void {}

  /** Chevrotain would report tokens that are left behind an error as another error. */
  protected onAfterParse(): void {}
}
