import {
  createToken,
  EmbeddedActionsParser,
  LLkLookaheadStrategy,
  type ILookaheadStrategy,
  type IToken,
  type TokenType,
} from 'chevrotain'
import type { RunToken, TokenKind } from './scan-operations.ts'

/**
 * The parts of one operation, as parsed by the grammar. Each part is a run of lines that `scanOperations` returned. The grammar accepts a little more
 * than the format, such as blank lines, lines after a delete, or a `*** Move to:` line after the first chunk. Depending on the mode, the code that
 * uses the parts refuses or repairs such deviations.
 */
export type OperationSyntax = {
  readonly header: RunToken
  /** Every `*** Move to:` line, with its position. */
  readonly moves: readonly RunToken[]
  /** The lines of an add or a delete; undefined if there are none. Always undefined for an update, whose lines are in `chunks`. */
  readonly body: RunToken | undefined
  readonly endOfFile: RunToken | undefined
  readonly blanks: readonly RunToken[]
  readonly chunks: readonly ChunkSyntax[]
}

export type ChunkSyntax = {
  readonly anchors: readonly RunToken[]
  readonly body: RunToken
  readonly endOfFile: RunToken | undefined
}

/** Where the parser stopped: the token that didn't fit (undefined if no tokens were left), and the rule that was not finished. */
export type SyntaxError = {
  readonly at: RunToken | undefined
  readonly within: 'operation' | 'update' | 'chunk'
}

type Token = IToken & { readonly run: RunToken }

const types = {
  environment: createToken({ name: 'EnvironmentId', pattern: /a/ }),
  add: createToken({ name: 'AddHeader', pattern: /a/ }),
  delete: createToken({ name: 'DeleteHeader', pattern: /a/ }),
  update: createToken({ name: 'UpdateHeader', pattern: /a/ }),
  move: createToken({ name: 'MoveTo', pattern: /a/ }),
  anchor: createToken({ name: 'Anchor', pattern: /a/ }),
  body: createToken({ name: 'ChunkLines', pattern: /a/ }),
  added: createToken({ name: 'AddedLines', pattern: /a/ }),
  removed: createToken({ name: 'RemovedLines', pattern: /a/ }),
  'end-of-file': createToken({ name: 'EndOfFile', pattern: /a/ }),
  blank: createToken({ name: 'BlankLine', pattern: /a/ }),
  other: createToken({ name: 'OtherLine', pattern: /a/ }),
} satisfies Record<TokenKind, TokenType>

const none: readonly never[] = []

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

/** The grammar of operations and chunks, in the form that Chevrotain requires. */
export class OperationParser extends EmbeddedActionsParser {
  /** @param unchecked if false, the grammar itself is checked, and an error is thrown if it is ambiguous or left-recursive */
  constructor(unchecked = true) {
    // One token of lookahead is always enough. By default, the grammar itself isn't checked, because the check would delay each start of the program.
    super(Object.values(types), { maxLookahead: 1, skipValidations: unchecked, lookaheadStrategy: lazy })
    this.performSelfAnalysis()
    // Deleting properties makes V8 keep the object's properties in a slow table. V8 optimizes the table again when the object becomes a prototype.
    Object.create(this)
  }

  /**
   * Runs a step of Chevrotain's self-analysis, but skips the step `toFastProps`. That step does the same optimization as our constructor, but a
   * hundred properties are deleted after it, and each of these deletions would then be slow.
   */
  protected TRACE_INIT(step: string, act: () => unknown): unknown {
    return step === 'toFastProps' ? undefined : act()
  }

  readonly operation = this.RULE('operation', (): OperationSyntax | undefined =>
    this.OR([
      { ALT: () => this.SUBRULE(this.add) },
      { ALT: () => this.SUBRULE(this.remove) },
      { ALT: () => this.SUBRULE(this.update) },
    ]),
  )

  readonly add = this.RULE('add', (): OperationSyntax => {
    const header = run(this.CONSUME(types.add))
    const body = this.OPTION(() => run(this.CONSUME(types.added)))
    const endOfFile = this.OPTION1(() => run(this.CONSUME(types['end-of-file'])))
    return { header, moves: none, body, endOfFile, blanks: this.SUBRULE(this.blanks), chunks: none }
  })

  readonly remove = this.RULE('remove', (): OperationSyntax => {
    const header = run(this.CONSUME(types.delete))
    const body = this.OPTION(() => run(this.CONSUME(types.removed)))
    return { header, moves: none, body, endOfFile: undefined, blanks: this.SUBRULE(this.blanks), chunks: none }
  })

  readonly update = this.RULE('update', (): OperationSyntax => {
    const header = run(this.CONSUME(types.update))
    const moves: RunToken[] = []
    const blanks: RunToken[] = []
    const chunks: ChunkSyntax[] = []
    // The alternatives are created only once, because a file can have a million chunks.
    const parts = [
      { ALT: () => moves.push(run(this.CONSUME(types.move))) },
      { ALT: () => blanks.push(run(this.CONSUME(types.blank))) },
      { ALT: () => chunks.push(this.SUBRULE(this.chunk)) },
    ]
    this.MANY(() => this.OR(parts))
    return { header, moves, body: undefined, endOfFile: undefined, blanks, chunks }
  })

  readonly chunk = this.RULE('chunk', (): ChunkSyntax => {
    const anchors: RunToken[] = []
    this.MANY(() => anchors.push(run(this.CONSUME(types.anchor))))
    const body = run(this.CONSUME(types.body))
    const endOfFile = this.OPTION(() => run(this.CONSUME(types['end-of-file'])))
    return { anchors, body, endOfFile }
  })

  readonly blanks = this.RULE('blanks', (): readonly RunToken[] => {
    const found: RunToken[] = []
    this.MANY(() => found.push(run(this.CONSUME(types.blank))))
    return found
  })
}

const parser = new OperationParser()

/**
 * Parses one operation, given as runs of lines of the same kind. The first run is the header.
 *
 * @returns the parts of the operation, or the first token that doesn't fit
 */
export function parseOperation(runs: readonly RunToken[]): OperationSyntax | SyntaxError {
  parser.input = runs.map(token)
  const operation = parser.operation()
  const [error] = parser.errors
  // The parser lives longer than this call, but must not keep the tokens of a million chunks.
  parser.input = []
  if (error === undefined && operation !== undefined) return operation
  const at = error === undefined ? undefined : (error.token as Partial<Token>).run
  const rules = error?.context.ruleStack ?? []
  return { at, within: rules.includes('chunk') ? 'chunk' : rules.includes('update') ? 'update' : 'operation' }
}

// While Chevrotain records the grammar, it calls the rules with placeholder tokens that have no `run`. The result is then undefined in spite of its
// type, and nothing uses it.
function run(token: IToken): RunToken {
  return (token as Token).run
}

function token(run: RunToken): Token {
  const tokenType = types[run.kind]
  return {
    run,
    image: '',
    startOffset: run.start,
    endOffset: run.end,
    startLine: run.line,
    tokenType,
    tokenTypeIdx: tokenType.tokenTypeIdx ?? 0,
  }
}
