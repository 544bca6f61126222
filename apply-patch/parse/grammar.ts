import { RunParser, tokenType, type Token } from './run-parser.ts'
import { isHeader, type TokenKind } from './above.ts'
import type { RunToken } from './scan-patch.ts'
import type { Actions, Chunks, ChunkSyntax, OperationSyntax, SyntaxError } from './syntax.ts'

const types = {
  begin: tokenType('BeginPatch'),
  end: tokenType('EndPatch'),
  environment: tokenType('EnvironmentId'),
  add: tokenType('AddHeader'),
  delete: tokenType('DeleteHeader'),
  update: tokenType('UpdateHeader'),
  move: tokenType('MoveTo'),
  anchor: tokenType('Anchor'),
  body: tokenType('ChunkLines'),
  added: tokenType('AddedLines'),
  'end-of-file': tokenType('EndOfFile'),
  other: tokenType('OtherLine'),
}

/** The tokens that only lenient mode knows: strict mode reads the same rules, but takes these lines for lines that fit nowhere. */
export const lenientTypes = {
  'late-move': tokenType('LateMoveTo'),
  'git-header': tokenType('GitHeader'),
  removed: tokenType('RemovedLines'),
  'end-of-added': tokenType('EndOfAddedFile'),
  blank: tokenType('BlankLine'),
}

const allTypes: Readonly<Record<TokenKind, (typeof types)['begin']>> = { ...types, ...lenientTypes }

const none: readonly never[] = []

const noChunks: Chunks = { chunks: none, blanks: none, moves: none, gitHeader: undefined }

/** The grammar of patches, in the form that Chevrotain requires. */
export class PatchParser extends RunParser {
  #actions: Actions | undefined
  #isStrict = false
  #header: RunToken | undefined

  /** @param unchecked if false, the grammar itself is checked, and an error is thrown if it is ambiguous or left-recursive */
  constructor(unchecked = true) {
    super([...Object.values(types), ...Object.values(lenientTypes)], unchecked)
    this.finishRules()
  }

  readonly start = this.RULE('start', (): void => {
    this.#mark(this.CONSUME(types.begin), 'begin')
    const environment = this.OPTION(() => run(this.CONSUME(types.environment)))
    const blanks = this.SUBRULE(this.blanks)
    this.ACTION(() => this.#actions?.prelude(environment, blanks))
    this.SUBRULE(this.operations)
  })

  readonly operations = this.RULE('operations', (): void => {
    // The alternatives are created only once, because a patch can have a million operations.
    const kinds = [
      { ALT: () => this.SUBRULE(this.addFile) },
      { ALT: () => this.SUBRULE(this.deleteFile) },
      { ALT: () => this.SUBRULE(this.updateFile) },
    ]
    this.AT_LEAST_ONE(() => {
      const operation = this.OR(kinds)
      this.ACTION(() => this.#actions?.operation(operation))
    })
    this.#mark(this.CONSUME(types.end), 'end')
  })

  readonly addFile = this.RULE('addFile', (): OperationSyntax => {
    const header = this.#head(types.add)
    const gitHeader = this.OPTION1(() => run(this.CONSUME(lenientTypes['git-header'])))
    const body = this.OPTION2(() => run(this.CONSUME(types.added)))
    const endOfAdded = this.OPTION3(() => run(this.CONSUME(lenientTypes['end-of-added'])))
    return { header, gitHeader, moves: none, body, endOfAdded, blanks: this.SUBRULE(this.blanks), chunks: none }
  })

  readonly deleteFile = this.RULE('deleteFile', (): OperationSyntax => {
    const header = this.#head(types.delete)
    const body = this.OPTION(() => run(this.CONSUME(lenientTypes.removed)))
    return {
      header,
      gitHeader: undefined,
      moves: none,
      body,
      endOfAdded: undefined,
      blanks: this.SUBRULE(this.blanks),
      chunks: none,
    }
  })

  readonly updateFile = this.RULE('updateFile', (): OperationSyntax => {
    const header = this.#head(types.update)
    let move: RunToken | undefined
    const parts = this.OR([
      {
        ALT: () => {
          move = run(this.CONSUME(types.move))
          return this.OPTION(() => this.SUBRULE1(this.chunks))
        },
      },
      { ALT: () => this.SUBRULE2(this.chunks) },
    ])
    const { chunks, blanks, gitHeader, moves } = parts ?? noChunks
    return {
      header,
      gitHeader,
      moves: move === undefined ? moves : [move, ...moves],
      body: undefined,
      endOfAdded: undefined,
      blanks,
      chunks,
    }
  })

  readonly chunks = this.RULE('chunks', (): Chunks => {
    const [chunks, blanks, moves, gitHeaders]: [ChunkSyntax[], RunToken[], RunToken[], RunToken[]] = [[], [], [], []]
    // The alternatives are created only once, because a file can have a million chunks.
    const parts = [
      { ALT: () => chunks.push(this.SUBRULE(this.chunk)) },
      { ALT: () => blanks.push(run(this.CONSUME(lenientTypes.blank))) },
      { ALT: () => gitHeaders.push(run(this.CONSUME(lenientTypes['git-header']))) },
      { ALT: () => moves.push(run(this.CONSUME(lenientTypes['late-move']))) },
    ]
    this.AT_LEAST_ONE(() => this.OR(parts))
    return { chunks, blanks, moves, gitHeader: gitHeaders[0] }
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
    this.MANY(() => found.push(run(this.CONSUME(lenientTypes.blank))))
    return found
  })

  /**
   * Parses a patch, token by token. After an error, parsing continues with the next operation.
   *
   * @param scan returns the next token
   * @param fail is told each error; if it returns false, only the end of the patch is still checked
   */
  parse(
    scan: () => RunToken | undefined,
    strict: boolean,
    actions: Actions,
    fail: (error: SyntaxError) => boolean,
  ): void {
    this.#actions = actions
    this.#isStrict = strict
    this.#header = undefined
    try {
      this.open(scan)
      this.start()
      for (let error = this.#error(); error !== undefined; error = this.#error()) {
        const goesOn = fail(error)
        while (!this.#ends(goesOn)) this.consumeToken()
        this.errors = []
        if (this.next === undefined) fail({ ...error, at: undefined })
        else if (this.next.kind !== 'end') this.operations()
      }
    } finally {
      this.close()
      this.#actions = undefined
    }
  }

  protected override typeOf({ kind }: RunToken): (typeof types)['begin'] {
    return this.#isStrict && kind in lenientTypes ? types.other : allTypes[kind]
  }

  #error(): SyntaxError | undefined {
    const [error] = this.errors
    if (error === undefined) return undefined
    const rules = error.context.ruleStack
    const inUpdate = rules.includes('updateFile') ? 'update' : undefined
    return {
      at: (error.token as Partial<Token>).run,
      after: this.before,
      header: this.#header,
      within: rules.includes('chunk') ? 'chunk' : inUpdate,
    }
  }

  #head(type: (typeof types)['begin']): RunToken {
    return (this.#header = run(this.CONSUME(type)))
  }

  /** Whether parsing can go on at the next token after an error. */
  #ends(goesOn: boolean): boolean {
    const kind = this.next?.kind
    return kind === undefined || kind === 'end' || (goesOn && isHeader(kind))
  }

  #mark(marker: object, which: 'begin' | 'end'): void {
    this.ACTION(() => this.#actions?.marker(run(marker), which))
  }
}

const parser = new PatchParser()

/** Parses a patch, see `PatchParser.parse`. */
export const parseTokens: PatchParser['parse'] = (...given) => parser.parse(...given)

// While Chevrotain records the grammar, it calls the rules with placeholder tokens that have no `run`. The result is then undefined in spite of its
// type, and nothing uses it.
function run(token: object): RunToken {
  return (token as Token).run
}
