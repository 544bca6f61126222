import type { Token, TokenKind } from './tokens/token.ts'

type Span = { readonly pos: number; readonly end: number }

/** Kinds of tree nodes whose position must match that of a token. */
type ClaimKind = Exclude<TokenKind, 'comment' | 'structure' | 'pattern'>

const claimKinds: readonly ClaimKind[] = [
  ...(['word', 'descriptor', 'delimiter', 'body', 'closing', 'single', 'double'] as const),
  ...(['ansi', 'simple', 'parameter', 'command', 'process', 'arithmetic'] as const),
]
const numbers: ReadonlyMap<string, number> = new Map(claimKinds.map((kind, at) => [kind, at]))
/** A number that is greater than the length of any text that is read. */
const longest = 2 ** 20

/** Encodes a kind and a position as a number, which is quicker to look up than a string. */
function keyOf(kind: ClaimKind, { pos, end }: Span): number {
  return ((numbers.get(kind) ?? 0) * longest + pos) * longest + end
}

function describeClaim(key: number): string {
  const kind = claimKinds[Math.floor(key / longest ** 2)] ?? ''
  return `${kind} from offset ${Math.floor(key / longest) % longest} to ${key % longest}`
}

/**
 * Compares two independent readings of a text: the parts that were visited in the parser's tree, and the tokens of our own tokenizer, which cover the whole
 * text. If every token was visited, and every visited part is a token, no byte was missed.
 */
export class Coverage {
  readonly #claims = new Set<number>()
  readonly #patterns: Span[] = []
  readonly #braces: Span[] = []
  readonly #structure = new Map<string, number>()

  /** Records a node that was visited. */
  claim(kind: ClaimKind, span: Span): void {
    this.#claims.add(keyOf(kind, span))
  }

  /** Records a wildcard whose meaning was understood. */
  pattern(span: Span): void {
    this.#patterns.push(span)
  }

  /** Records a brace expansion that was understood, including its contents. */
  braces(span: Span): void {
    this.#patterns.push(span)
    this.#braces.push(span)
  }

  /** Records the reserved words and operators that a visited node accounts for. */
  expect(...texts: readonly string[]): void {
    for (const text of texts) this.#structure.set(text, (this.#structure.get(text) ?? 0) + 1)
  }

  /** Describes the first difference between the tokens of `text` and the visited parts. Undefined if they agree. */
  difference(tokens: readonly Token[], text: string): string | undefined {
    const claims = new Set(this.#claims)
    const structure = new Map(this.#structure)
    const patterns = this.#patterns.toSorted((a, b) => a.pos - b.pos)
    const braces = this.#braces.toSorted((a, b) => a.pos - b.pos)
    for (const token of tokens) {
      const { kind, pos, end } = token
      const said = JSON.stringify(text.slice(pos, Math.min(end, pos + 40)))
      if (kind === 'comment') continue
      if (kind === 'structure') {
        const count = structure.get(token.text ?? '') ?? 0
        if (count === 0) return `the syntax tree contains nothing for ${said}`
        structure.set(token.text ?? '', count - 1)
      } else if (kind === 'pattern') {
        const known =
          token.text === undefined
            ? isCovered(token, patterns)
            : holdsOne(token, token.text === '{' ? braces : patterns)
        if (!known) return `the pattern in ${said} was not understood`
      } else if (!claims.delete(keyOf(kind, token))) return `the syntax tree has no ${kind} token for ${said}`
    }
    const [left] = claims
    if (left !== undefined) return `the tokenizer found no ${describeClaim(left)}`
    const [missing] = [...structure].filter(([, count]) => count > 0)
    return missing === undefined ? undefined : `the tokenizer found no "${missing[0]}"`
  }
}

/** The index of the first of the sorted spans that begins at or after an offset. */
function firstFrom(spans: readonly Span[], pos: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.pos ?? 0) < pos) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether the token of a wildcard is inside one of `patterns`, the wildcards and brace expansions that were understood. */
function isCovered({ pos, end }: Token, patterns: readonly Span[]): boolean {
  const at = firstFrom(patterns, pos)
  return [patterns[at], patterns[at - 1]].some((span) => span !== undefined && span.pos <= pos && span.end >= end)
}

/** Whether a word contains one of `patterns`, the wildcards or brace expansions that were understood. */
function holdsOne({ pos, end }: Token, patterns: readonly Span[]): boolean {
  const first = patterns[firstFrom(patterns, pos)]
  return first !== undefined && first.end <= end
}
