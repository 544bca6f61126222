/** The most alternatives that the braces of a pattern may stand for. A pattern with more matches nothing. */
const mostAlternatives = 200

/**
 * Whether a path matches a pattern of `.gitattributes` or `.editorconfig`. `?` and `*` stand for characters other than `/`, `**` for any characters, and
 * `**` with a `/` after it also for none. With `braces`, `{a,b}` and `{1..3}` are alternatives.
 *
 * @param path relative to the file that contains the pattern
 */
export function matchesGlob(pattern: string, path: string, braces: boolean): boolean {
  const isAnchored = pattern.slice(0, -1).includes('/')
  const plain = pattern.startsWith('/') ? pattern.slice(1) : isAnchored ? pattern : `**/${pattern}`
  const alternatives = braces ? expand(plain) : [plain]
  return alternatives.some((one) => matches(tokensOf(one), path))
}

type Token =
  | { readonly type: 'literal'; readonly character: string }
  /** Matches one character that is (or isn't) in the set. */
  | { readonly type: 'class'; readonly has: (character: string) => boolean }
  | { readonly type: 'many'; readonly crosses: boolean }
  /** `**` and a slash: any directories, or none. */
  | { readonly type: 'directories' }

function tokensOf(pattern: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? ''
    if (character === '\\' && at + 1 < pattern.length) tokens.push({ type: 'literal', character: pattern[++at] ?? '' })
    else if (character === '?') tokens.push({ type: 'class', has: (one) => one !== '/' })
    else if (character === '*') {
      const isDouble = pattern[at + 1] === '*'
      if (isDouble) at++
      if (isDouble && pattern[at + 1] === '/') {
        at++
        tokens.push({ type: 'directories' })
      } else tokens.push({ type: 'many', crosses: isDouble })
    } else if (character === '[') {
      const first = at + (/^[!^]/.test(pattern.slice(at + 1)) ? 2 : 1)
      // A bracket that comes first is a member of the set.
      const end = pattern.indexOf(']', first + 1)
      if (end === -1) tokens.push({ type: 'literal', character })
      else {
        tokens.push({ type: 'class', has: setOf(pattern.slice(at + 1, end)) })
        at = end
      }
    } else tokens.push({ type: 'literal', character })
  }
  return tokens
}

function setOf(text: string): (character: string) => boolean {
  const isNegated = text.startsWith('!') || text.startsWith('^')
  const members = isNegated ? text.slice(1) : text
  return (character) => {
    let isIn = false
    for (let at = 0; at < members.length; at++) {
      const from = members[at] ?? ''
      const isRange = members[at + 1] === '-' && at + 2 < members.length
      const to = isRange ? (members[at + 2] ?? '') : from
      if (isRange) at += 2
      isIn ||= character >= from && character <= to
    }
    return character !== '/' && isIn !== isNegated
  }
}

/** Compares a path with tokens in time that grows with the product of their lengths. */
function matches(tokens: readonly Token[], path: string): boolean {
  // `reached[position]`: whether the tokens so far match the path up to that position.
  let reached = new Uint8Array(path.length + 1)
  reached[0] = 1
  for (const token of tokens) {
    const next = new Uint8Array(path.length + 1)
    let open = false
    for (let at = 0; at <= path.length; at++) {
      const before = path[at - 1] ?? ''
      switch (token.type) {
        case 'literal':
          if (at > 0 && reached[at - 1] === 1 && before === token.character) next[at] = 1
          break
        case 'class':
          if (at > 0 && reached[at - 1] === 1 && token.has(before)) next[at] = 1
          break
        case 'many':
          open = (open && (token.crosses || before !== '/')) || reached[at] === 1
          if (open) next[at] = 1
          break
        case 'directories':
          if (reached[at] === 1 || (open && before === '/')) next[at] = 1
          open ||= reached[at] === 1
          break
        default:
          return token satisfies never
      }
    }
    reached = next
  }
  return reached[path.length] === 1
}

/** The patterns that a pattern with braces stands for; empty if there are too many. */
function expand(pattern: string): readonly string[] {
  const open = [pattern]
  const done: string[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = findOpen(next)
    if (braces === undefined) done.push(next)
    else for (const part of braces.parts) open.push(next.slice(0, braces.start) + part + next.slice(braces.end + 1))
    if (open.length + done.length > mostAlternatives) return []
  }
  return done
}

/** The first pair of braces with alternatives; undefined if there is none. */
function findOpen(
  pattern: string,
): { readonly start: number; readonly end: number; readonly parts: readonly string[] } | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    const parts: string[] = []
    let [depth, from] = [0, start + 1]
    for (let at = start; at < pattern.length; at++) {
      const character = pattern[at]
      if (character === '\\') at++
      else if (character === '{') depth++
      else if (character === ',' && depth === 1) {
        parts.push(pattern.slice(from, at))
        from = at + 1
      } else if (character === '}' && --depth === 0) {
        parts.push(pattern.slice(from, at))
        const numbers = /^(-?\d{1,6})\.\.(-?\d{1,6})$/.exec(parts[0] ?? '')
        if (parts.length > 1) return { start, end: at, parts }
        if (numbers !== null) return { start, end: at, parts: numbersBetween(Number(numbers[1]), Number(numbers[2])) }
        break
      }
    }
  }
  return undefined
}

function numbersBetween(one: number, other: number): readonly string[] {
  const [from, to] = [Math.min(one, other), Math.max(one, other)]
  return Array.from({ length: Math.min(to - from, mostAlternatives) + 1 }, (_, index) => String(from + index))
}
