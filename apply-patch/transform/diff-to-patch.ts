import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PatchError } from '../errors.ts'
import type { Chunk, Patch, PatchOperation } from '../patch.ts'
import { diffLines } from './diff-lines.ts'
import { groupDifferences, type Group } from './group-differences.ts'
import { isBinary } from './unified-diff.ts'

/** A file before and after; undefined where it doesn't exist. */
export type FilePair = {
  readonly path: string
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/**
 * The patch that turns one state into another, from pairs of contents or from two folders (compared without `.git`,
 * and without links and empty folders, which the format can't tell of).
 *
 * A chunk whose lines occur several times carries its line number as a hint, which only lenient mode reads.
 *
 * Line ends are the tree's own when it is applied: a difference in nothing but line ends, or in whether the file ends
 * with one, can't be said in the format and is left out.
 *
 * @throws PatchError `not-reversible` with reason `binary` for a changed file that isn't UTF-8 text: it can't be in a patch
 */
export async function diffToPatch(
  from: readonly FilePair[] | { readonly before: string; readonly after: string },
  options: { readonly context?: number; readonly signal?: AbortSignal } = {},
): Promise<Patch> {
  const pairs = 'before' in from ? pairFolders(from.before, from.after) : from
  const operations: PatchOperation[] = []
  const refused: string[] = []
  for (const pair of pairs) {
    options.signal?.throwIfAborted()
    const [before, after] = [pair.before && Buffer.from(pair.before), pair.after && Buffer.from(pair.after)]
    if (before === undefined ? after === undefined : after !== undefined && before.equals(after)) continue
    if (after !== undefined && (isBinary(after) || (before !== undefined && isBinary(before)))) refused.push(pair.path)
    else operations.push(...describe(pair.path, before, after, options.context ?? 3))
  }
  if (refused.length > 0) {
    throw new PatchError(
      'not-reversible',
      refused.map((path) => ({ code: 'reverse', path, absolute: path, hunk: 0, patchLine: 0, reason: 'binary' })),
    )
  }
  return { operations }
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
