/** A position in a text. Line and column are counted from 1. */
type TextPosition = { readonly line: number; readonly column: number }

/** Returns the line and column of an offset. */
export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/**
 * Returns the position of the value at `path` in a JSON text, e.g. `['hooks', 'Stop', 0]`. The text must be valid JSON. If there is no such value,
 * returns the position of the innermost value on the path that exists, because that value lacks the next part of the path.
 */
export function locateInJson(text: string, path: readonly PropertyKey[]): TextPosition {
  let at = skipSpace(text, 0)
  for (const step of path) {
    const inner = typeof step === 'number' ? element(text, at, step) : member(text, at, String(step))
    if (inner === undefined) break
    at = inner
  }
  return positionAt(text, at)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/[\s\ufeff]/.test(text.charAt(at))) at++
  return at
}

function element(text: string, at: number, index: number): number | undefined {
  if (text.charAt(at) !== '[') return undefined
  let next = skipSpace(text, at + 1)
  for (let passed = 0; text.charAt(next) !== ']'; passed++) {
    if (passed === index) return next
    next = afterComma(text, endOfValue(text, next))
  }
  return undefined
}

/** Finds the value of the last member with the given name, which is the one that `JSON.parse` uses. */
function member(text: string, at: number, name: string): number | undefined {
  if (text.charAt(at) !== '{') return undefined
  let found: number | undefined
  let next = skipSpace(text, at + 1)
  while (text.charAt(next) !== '}') {
    const end = endOfString(text, next)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    if (JSON.parse(text.slice(next, end)) === name) found = value
    next = afterComma(text, endOfValue(text, value))
  }
  return found
}

function afterComma(text: string, end: number): number {
  const at = skipSpace(text, end)
  return text.charAt(at) === ',' ? skipSpace(text, at + 1) : at
}

function endOfValue(text: string, start: number): number {
  const first = text.charAt(start)
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') return start + (/[^\s,\]}]*/.exec(text.slice(start))?.[0].length ?? 0)
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') at = endOfString(text, at) - 1
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
  return at + 1
}
