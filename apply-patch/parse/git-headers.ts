import { lineEnd } from './line-end.ts'

const MINUS = 45
const AT = 64

const gitHeader =
  /^(?:diff --git |index [0-9a-f]+\.\.|(?:old|new|deleted file|new file) mode \d|similarity index |(?:rename|copy) (?:from|to) )/

/** Whether a line may be one of those that a diff has before the first chunk of a file. */
export function isInGitHeader(line: string): boolean {
  return gitHeader.test(line) || line.startsWith('--- ') || line.startsWith('+++ ')
}

/** The lines that a diff has before the first chunk of a file, if there are any here, and a chunk follows. */
export function gitHeaders(
  bytes: Buffer,
  from: number,
  to: number,
): { readonly end: number; readonly lines: number } | undefined {
  const first = bytes[from]
  if (first !== MINUS && (first === undefined || !/[a-z]/.test(String.fromCharCode(first)))) return undefined
  let [at, lines] = [from, 0]
  const textAt = (start: number): string =>
    bytes.toString('latin1', start, Math.min(lineEnd(bytes, start, to), start + 5000))
  for (; at < to && gitHeader.test(textAt(at)); lines++) at = lineEnd(bytes, at, to)
  const names = at < to && textAt(at).startsWith('--- ') ? lineEnd(bytes, at, to) : to
  if (names < to && textAt(names).startsWith('+++ ')) {
    at = lineEnd(bytes, names, to)
    lines += 2
  }
  if (lines === 0 || at >= to || bytes[at] !== AT || bytes[at + 1] !== AT) return undefined
  // An added file has a single chunk, whose header says nothing.
  return /^@@ -0,0 /.test(textAt(at)) ? { end: lineEnd(bytes, at, to), lines: lines + 1 } : { end: at, lines }
}

/** Whether the headers of a diff name a file, and none but these. */
export function nameOnly(headers: string, paths: readonly string[]): boolean {
  const known = new Set([
    '/dev/null',
    ...paths.flatMap((path) => [path, `a/${path}`, `b/${path}`, path.replace(/^[ab]\//, '')]),
  ])
  const lines = headers.split('\n')
  const names = lines.flatMap((text) => (/^(?:---|\+\+\+) /.test(text) ? [text.slice(4).split('\t')[0] ?? ''] : []))
  const pairs = lines.flatMap((text) => (text.startsWith('diff --git ') ? [text.slice('diff --git '.length)] : []))
  const isKnown = (pair: string): boolean =>
    [...known].some((one) => pair.startsWith(`${one} `) && known.has(pair.slice(one.length + 1)))
  return names.every((name) => known.has(name)) && pairs.every(isKnown) && names.length + pairs.length > 0
}
