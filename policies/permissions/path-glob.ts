/** One component of a pattern: a plain name, any number of folders, or a name with wildcards. */
export type GlobPart = string | typeof anyFolders | readonly Piece[]

/** One element of a name with wildcards: a literal character, any text (`*`), any single character (`?`), or a set of characters (`[…]`). */
type Piece = string | typeof anyText | { readonly test: (character: string) => boolean }

/** `**`: any number of folders. */
export const anyFolders = Symbol('**')
/** `*`: any text inside a name. */
export const anyText = Symbol('*')

/** Parses a pattern in gitignore's syntax. Undefined if a bracket isn't closed, or if the set in it is invalid. */
export function compileGlob(pattern: string): readonly GlobPart[] | undefined {
  const parts: GlobPart[] = []
  for (const text of pattern.split('/')) {
    const part = text === '**' ? anyFolders : compilePart(text)
    if (part === undefined) return undefined
    // Two adjacent `**` mean the same as a single one.
    if (part !== anyFolders || parts.at(-1) !== anyFolders) parts.push(part)
  }
  return parts
}

/**
 * Whether the pattern matches a relative path or a folder that contains it. If the rest of the pattern fits at several places after a wildcard, the first is
 * as good as any later one, so only the last wildcard is ever tried again. The work is at most the product of both lengths.
 */
export function matchGlob(parts: readonly GlobPart[], names: readonly string[]): boolean {
  let [part, name] = [0, 0]
  let retry: { readonly part: number; name: number } | undefined
  for (;;) {
    const wanted = parts[part]
    // A match covers everything below the path that matches.
    if (wanted === undefined) return true
    const found = names[name]
    if (wanted === anyFolders) {
      // At the end of the pattern, `**` matches what is in the folder, but not the folder itself.
      if (part === parts.length - 1) return name < names.length
      retry = { part: ++part, name }
    } else if (found !== undefined && matchPart(wanted, found)) {
      part++
      name++
    } else if (retry !== undefined && retry.name < names.length) {
      part = retry.part
      name = ++retry.name
    } else return false
  }
}

function matchPart(wanted: string | readonly Piece[], name: string): boolean {
  if (typeof wanted === 'string') return wanted === name
  let [piece, at] = [0, 0]
  let retry: { readonly piece: number; at: number } | undefined
  for (;;) {
    const next = wanted[piece]
    if (next === undefined && at === name.length) return true
    const character = name[at]
    if (next === anyText) retry = { piece: ++piece, at }
    else if (next !== undefined && character !== undefined && fits(next, character)) {
      piece++
      at++
    } else if (retry !== undefined && retry.at < name.length) {
      piece = retry.piece
      at = ++retry.at
    } else return false
  }
}

function fits(piece: Exclude<Piece, typeof anyText>, character: string): boolean {
  return typeof piece === 'string' ? piece === character : piece.test(character)
}

function compilePart(text: string): string | readonly Piece[] | undefined {
  const pieces: Piece[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '*') {
      if (pieces.at(-1) !== anyText) pieces.push(anyText)
    } else if (character === '?') pieces.push({ test: () => true })
    else if (character === '[') {
      const set = compileSet(text, at)
      if (set === undefined) return undefined
      pieces.push(set.piece)
      at = set.end
    } else if (character === '\\') pieces.push(text[++at] ?? '\\')
    else pieces.push(character)
  }
  return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : pieces
}

/** Compiles a set such as `[a-z_]` or `[!0-9]` that begins at an offset. Also returns where the set ends. */
function compileSet(text: string, from: number): { readonly piece: Piece; readonly end: number } | undefined {
  let at = from + 1
  const negated = text[at] === '!' || text[at] === '^'
  if (negated) at++
  const ranges: (readonly [string, string])[] = []
  for (let first = true; ; first = false) {
    let low = text[at++]
    if (low === undefined) return undefined
    if (low === ']' && !first) break
    if (low === '\\') low = text[at++] ?? '\\'
    const end = text[at + 1]
    if (text[at] !== '-' || end === undefined || end === ']') ranges.push([low, low])
    else {
      const high = end === '\\' ? text[at + 2] : end
      if (high === undefined || high < low) return undefined
      ranges.push([low, high])
      at += end === '\\' ? 3 : 2
    }
  }
  const holds = (character: string): boolean => ranges.some(([low, high]) => low <= character && character <= high)
  return { piece: { test: (character) => holds(character) !== negated }, end: at - 1 }
}
