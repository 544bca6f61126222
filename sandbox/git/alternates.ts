import { resolve } from 'node:path'
import { readHostFile } from '../host-files.ts'
import { existsSync, realpathSync } from '../host-paths.ts'
import { decodeText, encodePath, encodeText } from '../path-bytes.ts'

const escapes: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/**
 * The directories in an `alternates` file, from which a repository borrows objects (gitrepository-layout(5)). A path in double quotes has escapes, and
 * may contain line feeds. Like git, this function takes a line with broken quotes as it is (odb.c).
 *
 * @internal
 */
export function parseAlternates(content: Buffer | undefined): readonly string[] {
  const text = content === undefined ? '' : decodeText(content)
  const paths: string[] = []
  for (let at = 0; at < text.length;) {
    const quoted = text[at] === '"' ? readQuoted(text, at + 1) : undefined
    const end = quoted?.end ?? endOfLine(text, at)
    const path = quoted?.path ?? text.slice(at, end)
    if (path !== '' && text[at] !== '#') paths.push(path)
    at = end + 1
  }
  return paths
}

/**
 * The content of an `alternates` file.
 *
 * @internal
 */
export function writeAlternates(paths: readonly string[]): Buffer {
  return encodeText(paths.map((path) => `${/^["#]|\n/.test(path) ? quotePath(path) : path}\n`).join(''))
}

/** A path in double quotes, as git's quote.c reads it. */
export function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** Reads a quoted path that begins at `from`, after the quote. `end` is the position after the closing quote. Undefined if the quoting is broken. */
function readQuoted(text: string, from: number): { readonly path: string; readonly end: number } | undefined {
  const parts: Buffer[] = []
  for (let at = from; at < text.length;) {
    const special = /["\\]/g
    special.lastIndex = at
    const next = special.exec(text)?.index
    if (next === undefined) return undefined
    parts.push(encodeText(text.slice(at, next)))
    if (text[next] === '"') return { path: decodeText(Buffer.concat(parts)), end: next + 1 }
    const character = text[next + 1] ?? ''
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(next + 1, next + 4))?.[0]
    const escaped = octal === undefined ? (escapes[character] ?? (/["\\]/.test(character) ? character : undefined)) : ''
    if (escaped === undefined) return undefined
    // An escape with digits stands for a byte, which may be a part of a character.
    parts.push(octal === undefined ? Buffer.from(escaped) : Buffer.of(Number.parseInt(octal, 8)))
    at = next + (octal === undefined ? 2 : 4)
  }
  return undefined
}

/**
 * The directories with the objects of a repository: its own, and all those from which it borrows, directly or through others.
 *
 * @internal
 * @param objects the repository's own directory of objects, without symlinks
 */
export function objectPlaces(objects: string, known: Set<string> = new Set()): ReadonlySet<string> {
  if (known.has(objects)) return known
  known.add(objects)
  const named = parseAlternates(readHostFile(encodePath(`${objects}/info/alternates`), { follow: true }))
  for (const place of named.map((each) => resolve(objects, each))) {
    if (existsSync(encodePath(place))) objectPlaces(realpathSync(place), known)
  }
  return known
}
