import { lineEnd } from './line-end.ts'

const PLUS = 43
const MINUS = 45
const AT = 64

const gitHeader =
  /^(?:diff --git |index [0-9a-f]+\.\.|(?:old|new|deleted file|new file) mode \d|similarity index |(?:rename|copy) (?:from|to) )/

const chunkOfAdded = /^@@(?: -0,0 |\s*$)/

/** Whether a line may be one of those that a diff has before the first chunk of a file. */
export function isInGitHeader(line: string, adds: boolean): boolean {
  return /^(?:---|\+\+\+) /.test(line) || gitHeader.test(line) || (adds && chunkOfAdded.test(line))
}

/** The operation below whose header a line is: the paths that it names, and whether it adds a file. */
export type Operation = { readonly adds: boolean; readonly paths: readonly string[] }

/**
 * The lines that a diff has before the first chunk of a file, if there are any here, and a chunk follows. Without other headers, `--- x` counts only if it names the
 * operation's file, because it also removes the line `-- x`, which then must be in the file. In an update, nothing would show that `+++ y` alone is a line of the file.
 */
export function gitHeaders(
  bytes: Buffer,
  from: number,
  to: number,
  { adds, paths }: Operation,
): { readonly end: number; readonly lines: number } | undefined {
  if (!mayBegin(bytes[from], bytes[from + 1], adds)) return undefined
  let [at, lines] = [from, 0]
  const textAt = (start: number): string =>
    bytes.toString('utf8', start, Math.min(lineEnd(bytes, start, to), start + 5000))
  const take = (isTaken: (text: string) => boolean): boolean => {
    if (at >= to || !isTaken(textAt(at))) return false
    at = lineEnd(bytes, at, to)
    lines++
    return true
  }
  while (take((text) => gitHeader.test(text)));
  const named = at
  const hasOthers = lines > 0
  const hasOld = take((text) => text.startsWith('--- '))
  take((text) => text.startsWith('+++ '))
  if ((hasOld || adds) && at > named && !hasOthers && !nameOnly(bytes.toString('utf8', named, at), paths))
    return undefined
  if (!adds) return lines > 0 && bytes[at] === AT && bytes[at + 1] === AT && at < to ? { end: at, lines } : undefined
  // An added file has a single chunk, whose header says nothing.
  take((text) => chunkOfAdded.test(text))
  return lines > 0 && bytes[at] === PLUS && at < to ? { end: at, lines } : undefined
}

/** Whether a line that begins with these two bytes may be a header of a diff. Nearly no line of a patch is one, and this is the quickest way to say so. */
function mayBegin(first: number | undefined, second: number | undefined, adds: boolean): boolean {
  if (first === PLUS || first === MINUS) return second === first
  return first === AT ? adds : first !== undefined && first >= 0x61 && first <= 0x7a
}

/** What git puts before the paths of a diff, also with `diff.mnemonicPrefix`. */
const prefixes = ['', ...['a', 'b', 'c', 'i', 'o', 'w', '1', '2'].map((letter) => `${letter}/`)]

/** Whether the headers of a diff name a file, and none but these. */
export function nameOnly(headers: string, paths: readonly string[]): boolean {
  const plain = paths.flatMap((path) => [path, path.replace(/^[ab]\//, '')])
  const full = prefixes.flatMap((prefix) => plain.map((path) => `${prefix}${path}`))
  const known = new Set(['/dev/null', ...full, ...full.map(quote)])
  const lines = headers.split('\n').map((line) => line.replace(/\r$/, ''))
  const names = lines.flatMap((text) => (/^(?:---|\+\+\+) /.test(text) ? [text.slice(4).split('\t')[0] ?? ''] : []))
  const pairs = lines.flatMap((text) => (text.startsWith('diff --git ') ? [text.slice('diff --git '.length)] : []))
  const isKnown = (pair: string): boolean =>
    [...known].some((one) => pair.startsWith(`${one} `) && known.has(pair.slice(one.length + 1)))
  return names.every((name) => known.has(name)) && pairs.every(isKnown) && names.length + pairs.length > 0
}

const escapes: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\t': '\\t', '\n': '\\n' }

/** A path as git writes it if it has characters that aren't ASCII, or that are part of its notation. */
function quote(path: string): string {
  const characters = Array.from(Buffer.from(path).toString('latin1'), (character) => {
    const code = character.charCodeAt(0)
    const isPlain = code >= 0x20 && code < 0x7f
    return escapes[character] ?? (isPlain ? character : `\\${code.toString(8).padStart(3, '0')}`)
  })
  return `"${characters.join('')}"`
}
