import { isUtf8 } from 'node:buffer'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PatchError, type DifferenceFailure } from '../patch-error.ts'
import type { Chunk, Patch, PatchOperation } from '../patch.ts'
import { diffLines } from './diff-lines.ts'
import { groupDifferences, type Group } from './group-differences.ts'
import { trim } from '../text/trim.ts'

/** The content of a file before and after a change. `before` or `after` is undefined if the file doesn't exist at that time. */
export type FilePair = {
  readonly path: string
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/**
 * Computes the patch that turns one state into another. The states are given as pairs of contents or as two folders. Folders are compared without `.git`, and
 * without symlinks and empty folders, which the format can't express.
 *
 * If a chunk has no old lines, or if these occur several times, the patch contains the line number of the chunk as a hint, which only lenient mode
 * reads.
 *
 * Differences in line endings, in the byte-order mark, and in whether the file ends with a newline, are ignored, because the format can't express
 * them: a patch that is applied keeps those of the tree.
 *
 * A file that isn't UTF-8 can be deleted by a patch, but not added or changed by one.
 *
 * @throws PatchError `not-expressible`, which names every file that the format can't express
 * @example
 * mkdirSync('before')
 * mkdirSync('after')
 * writeFileSync('after/a.txt', 'one\n')
 * console.log(formatPatch(await diffToPatch({ before: 'before', after: 'after' })))
 */
export async function diffToPatch(
  from: readonly FilePair[] | { readonly before: string; readonly after: string },
  options: { readonly context?: number; readonly signal?: AbortSignal } = {},
): Promise<Patch> {
  const pairs = 'before' in from ? pairFolders(from.before, from.after) : from
  const operations: PatchOperation[] = []
  const refused: DifferenceFailure[] = []
  for (const pair of pairs) {
    options.signal?.throwIfAborted()
    const [before, after] = [pair.before && Buffer.from(pair.before), pair.after && Buffer.from(pair.after)]
    if (before === undefined ? after === undefined : after !== undefined && before.equals(after)) continue
    const reason = whyNot(pair.path, before, after)
    if (reason === undefined) operations.push(...describe(pair.path, before, after, options.context ?? 3))
    else refused.push({ code: 'difference', path: pair.path, reason })
  }
  if (refused.length > 0) throw new PatchError('not-expressible', refused)
  return { operations }
}

function whyNot(
  path: string,
  before: Buffer | undefined,
  after: Buffer | undefined,
): DifferenceFailure['reason'] | undefined {
  // A path that the parser would change can't be written in a header: headers are single lines and are trimmed, and stars at their end count as decoration.
  if (path === '' || path !== trim(path) || /\n| \*{3,}$/.test(path)) return 'path'
  return after !== undefined && !(isUtf8(after) && isUtf8(before ?? after)) ? 'not-text' : undefined
}

function describe(
  path: string,
  before: Buffer | undefined,
  after: Buffer | undefined,
  context: number,
): PatchOperation[] {
  if (after === undefined) return [{ type: 'delete', path, line: 0 }]
  if (before === undefined)
    return [{ type: 'add', path, line: 0, body: body(linesOf(after).map((line) => `+${line}`)) }]
  const [a, b] = [linesOf(before), linesOf(after)]
  const groups = groupDifferences(diffLines(a, b), context, a.length, b.length)
  const text = `\n${a.join('\n')}\n`
  const chunks = groups.map((group) => chunk(group, a, b, text))
  return chunks.length === 0 ? [] : [{ type: 'update', path, line: 0, chunks }]
}

function chunk({ aFrom, aTo, differences }: Group, a: readonly string[], b: readonly string[], text: string): Chunk {
  const lines: string[] = []
  let at = aFrom
  for (const difference of differences) {
    for (; at < difference.aFrom; at++) lines.push(` ${a[at] ?? ''}`)
    for (; at < difference.aTo; at++) lines.push(`-${a[at] ?? ''}`)
    for (let line = difference.bFrom; line < difference.bTo; line++) lines.push(`+${b[line] ?? ''}`)
  }
  for (; at < aTo; at++) lines.push(` ${a[at] ?? ''}`)
  const hint = { start: aTo === aFrom ? aFrom : aFrom + 1, count: aTo - aFrom }
  const block = `\n${a.slice(aFrom, aTo).join('\n')}\n`
  const first = text.indexOf(block)
  const needsHint = (aTo === aFrom && a.length > 0) || text.indexOf(block, first + 1) !== -1
  return {
    line: 0,
    bodyLine: 0,
    anchors: [],
    ...(needsHint ? { hint } : {}),
    body: body(lines),
    endOfFile: aTo === a.length && aTo > aFrom,
  }
}

function linesOf(bytes: Buffer): readonly string[] {
  const text = bytes.toString()
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function body(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

function pairFolders(before: string, after: string): readonly FilePair[] {
  const paths = new Set([...filesIn(before), ...filesIn(after)])
  return [...paths].toSorted().map((path) => ({ path, before: read(before, path), after: read(after, path) }))
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.split('/').includes('.git') && lstatSync(join(folder, path)).isFile(),
  )
}

function read(folder: string, path: string): Buffer | undefined {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : undefined
}
