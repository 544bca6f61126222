import { isUtf8 } from 'node:buffer'
import { PatchError, type DifferenceFailure } from '../patch-error.ts'
import type { Chunk, Patch, PatchOperation } from '../patch.ts'
import { diffLines } from './diff-lines.ts'
import { groupDifferences, type Group } from './group-differences.ts'
import { trim } from '../text/trim.ts'
import type { FilePair } from './file-pair.ts'
import { pairFolders } from './pair-folders.ts'
import { findRenames, isExecutable } from './find-renames.ts'

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
 * A file that isn't UTF-8 can be deleted or moved by a patch, but not added or changed by one. A removed file whose content, or half of whose lines, another path
 * has afterwards is moved, so that it keeps its mode and owner. Otherwise, a patch can't make a file executable, nor change whether it is.
 *
 * @throws PatchError `not-expressible`, which names every file that the format can't express, or a folder with more than a million entries or 1 GiB in its files
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
  const renames = findRenames(pairs)
  const moved = new Set([...renames.values()].map(({ from: path }) => path))
  for (const pair of pairs) {
    options.signal?.throwIfAborted()
    const rename = renames.get(pair.path)
    if (rename !== undefined) {
      const { from: path, to: moveTo, before, after } = rename
      const reason = whyNotCalled(path) ?? whyNotCalled(moveTo)
      if (reason !== undefined) refused.push({ code: 'difference', path: moveTo, reason })
      else
        operations.push({
          type: 'update',
          path,
          line: 0,
          moveTo,
          chunks: chunksOf(before, after, options.context ?? 3),
        })
      continue
    }
    if (moved.has(pair.path)) continue
    const [before, after] = [pair.before && Buffer.from(pair.before), pair.after && Buffer.from(pair.after)]
    const reason = whyNotCalled(pair.path) ?? whyNot(before, after, pair.modes)
    if (reason !== 'mode' && (before === undefined ? after === undefined : after !== undefined && before.equals(after)))
      continue
    if (reason === undefined) operations.push(...describe(pair.path, before, after, options.context ?? 3))
    else refused.push({ code: 'difference', path: pair.path, reason })
  }
  if (refused.length > 0) throw new PatchError('not-expressible', refused)
  return { operations }
}

function whyNotCalled(path: string): 'path' | undefined {
  // A path that the parser would change can't be written in a header: headers are single lines and are trimmed, and stars at their end count as decoration.
  return path === '' || path !== trim(path) || /\n| \*{3,}$/.test(path) ? 'path' : undefined
}

function whyNot(
  before: Buffer | undefined,
  after: Buffer | undefined,
  modes: FilePair['modes'],
): DifferenceFailure['reason'] | undefined {
  if (after === undefined) return undefined
  const [was, is] = [before === undefined ? false : isExecutable(modes?.before), isExecutable(modes?.after)]
  if (was !== undefined && is !== undefined && was !== is) return 'mode'
  return isUtf8(after) && isUtf8(before ?? after) ? undefined : 'not-text'
}

function describe(
  path: string,
  before: Buffer | undefined,
  after: Buffer | undefined,
  context: number,
): PatchOperation[] {
  if (after === undefined) return [{ type: 'delete', path, line: 0 }]
  if (before === undefined)
    return [{ type: 'add', path, line: 0, body: body(linesOf(after, lineFeeds).map((line) => `+${line}`)) }]
  const chunks = chunksOf(before, after, context)
  return chunks.length === 0 ? [] : [{ type: 'update', path, line: 0, chunks }]
}

function chunksOf(before: Buffer, after: Buffer, context: number): readonly Chunk[] {
  // Also if the bytes aren't text.
  if (before.equals(after)) return []
  // In a file with lone carriage returns, they end lines, as they do when the patch is applied.
  const endings = /\r(?!\n)/.test(before.toString('latin1')) ? allEndings : lineFeeds
  const [a, b] = [linesOf(before, endings), linesOf(after, endings)]
  const groups = groupDifferences(diffLines(a, b), context, a.length, b.length)
  const text = `\n${a.join('\n')}\n`
  return groups.map((group) => chunk(group, a, b, text))
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

const lineFeeds = /\r?\n/
const allEndings = /\r\n|\n|\r/

function linesOf(bytes: Buffer, endings: RegExp): readonly string[] {
  const text = bytes.toString()
  const lines = text.replace(/^\uFEFF/, '').split(endings)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function body(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}
