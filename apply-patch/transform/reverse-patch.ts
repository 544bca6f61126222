import { PatchError, type PlaceFailure } from '../patch-error.ts'
import { bodyLines } from '../match/prepare-chunks.ts'
import type { Body, Chunk, Patch, PatchOperation, UpdateFile } from '../patch.ts'

/**
 * Returns the patch that reverts a patch. Its operations are in reverse order, and old and new lines are exchanged. Plan the result with `ambiguous: 'refuse'`, so
 * that it can't match a different place than the original patch.
 *
 * An add becomes a delete that expects exactly the added lines.
 *
 * @throws PatchError `not-reversible` if a delete doesn't contain the deleted lines, or if removed lines have no context by which their place could be found
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n')
 * console.log(formatPatch(reversePatch(patch))) // deletes a.txt
 */
export function reversePatch(patch: Patch): Patch {
  const failures: PlaceFailure[] = []
  const operations = patch.operations.map((operation, index) => reverse(operation, index + 1, failures))
  if (failures.length > 0) throw new PatchError('not-reversible', failures)
  return { ...patch, operations: operations.filter((operation) => operation !== undefined).reverse() }
}

function reverse(operation: PatchOperation, hunk: number, failures: PlaceFailure[]): PatchOperation | undefined {
  const { path, line } = operation
  const fail = (reason: string, patchLine: number): undefined => {
    failures.push({ code: 'reverse', path, absolute: path, hunk, patchLine, reason })
  }
  switch (operation.type) {
    case 'add':
      return { type: 'delete', path, line, expected: exchange(operation.body), ...ending(operation) }
    case 'delete':
      if (operation.expected === undefined) return fail('no-content', line)
      return { type: 'add', path, line, body: exchange(operation.expected), ...ending(operation) }
    case 'update': {
      const misplaced = operation.chunks.find(lacksPlace)
      return misplaced === undefined ? reverseUpdate(operation) : fail('no-place', misplaced.line)
    }
    default:
      return operation satisfies never
  }
}

function ending({ unterminated }: { readonly unterminated?: true }): { readonly unterminated?: true } {
  return unterminated === true ? { unterminated } : {}
}

function exchangedEnding({ finalNewline }: Chunk): Pick<Chunk, 'finalNewline'> {
  if (finalNewline === undefined) return {}
  return { finalNewline: finalNewline === 'absent' ? 'present' : 'absent' }
}

function reverseUpdate({ path, line, moveTo, chunks }: UpdateFile): UpdateFile {
  // Several insertions at the end of the file follow each other, so together they are its last lines.
  const atEnd = chunks.filter(insertsAtEnd)
  const reversed = chunks
    .filter((chunk) => !insertsAtEnd(chunk))
    .map((chunk) => ({ ...chunk, body: exchange(chunk.body), ...exchangedEnding(chunk) }))
  const first = atEnd[0]
  if (first !== undefined) {
    const body = exchange(Buffer.concat(atEnd.map((chunk) => chunk.body)))
    const { finalNewline: _, ...place } = first
    const last = atEnd.at(-1) ?? first
    reversed.push({ ...place, anchors: [], body, endOfFile: true, ...exchangedEnding(last) })
  }
  return {
    type: 'update',
    path: moveTo ?? path,
    line,
    ...(moveTo === undefined ? {} : { moveTo: path }),
    chunks: reversed,
  }
}

function insertsAtEnd({ anchors, hint, body, endOfFile }: Chunk): boolean {
  const isInsertion = bodyLines(body).every(({ mark }) => mark === 'added')
  return isInsertion && (endOfFile || (anchors.length === 0 && hint === undefined))
}

/** Whether a chunk has only removed lines, no anchor and no end-of-file mark. If so, its reverse would not say where to insert the lines. */
function lacksPlace({ anchors, body, endOfFile }: Chunk): boolean {
  return !endOfFile && anchors.length === 0 && bodyLines(body).every(({ mark }) => mark === 'removed')
}

/** Exchanges the added and the removed lines of the body; within a run of changes, the lines that are then removed come first. */
function exchange(body: Body): Buffer {
  const result: Buffer[] = []
  let [removed, added]: [Buffer[], Buffer[]] = [[], []]
  const flush = (): void => {
    for (const line of removed) result.push(line)
    for (const line of added) result.push(line)
    removed = []
    added = []
  }
  for (const { mark, start, end } of bodyLines(body)) {
    const text = body.subarray(start, end)
    if (mark === 'added') removed.push(Buffer.concat([Buffer.from('-'), text, Buffer.from('\n')]))
    else if (mark === 'removed') added.push(Buffer.concat([Buffer.from('+'), text, Buffer.from('\n')]))
    else {
      flush()
      result.push(Buffer.concat([Buffer.from(' '), text, Buffer.from('\n')]))
    }
  }
  flush()
  return Buffer.concat(result)
}
