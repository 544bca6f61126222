import { gitHeaders, isInGitHeader, type Operation } from './parse/git-headers.ts'
import { anchorOf, pathOf } from './parse/line-texts.ts'
import { isMarker } from './parse/markers.ts'
import { below, isHeader, nothingAbove, operationAt, type TokenKind } from './parse/above.ts'
import { isRemark, kindOfLine } from './parse/scan-patch.ts'
import type { Mode } from './patch.ts'

/** An operation of a patch that is still being written, as far as it is known. */
export type StreamedOperation = {
  readonly type: 'add' | 'delete' | 'update'
  readonly path: string
  readonly moveTo: string | undefined
  readonly chunks: readonly StreamedChunk[]
  readonly added: number
  readonly removed: number
  /** Whether the operation is complete, because the next one or the end of the patch has begun. */
  readonly isComplete: boolean
}

/** The anchors of a chunk, and its lines, each with its prefix (`+`, `-` or a space). An added file has all its lines in a single chunk. */
export type StreamedChunk = { readonly anchors: readonly string[]; readonly lines: readonly string[] }

/** Parses a patch while it is being written, only to display it. To apply a patch, parse it with `parsePatch`. */
export type StreamingParser = {
  /** Adds a piece of the text, which may end anywhere. Returns all operations known so far. */
  readonly push: (text: string) => readonly StreamedOperation[]
  readonly operations: () => readonly StreamedOperation[]
  /** Whether `*** End Patch` was seen. */
  readonly isComplete: () => boolean
}

type Building = { -readonly [Key in Exclude<keyof StreamedOperation, 'chunks'>]: StreamedOperation[Key] } & {
  chunks: BuildingChunk[]
}
type BuildingChunk = { anchors: string[]; lines: string[] }

/**
 * Creates a parser for a patch that is not complete yet. It never fails: lines that it doesn't understand are left for `parsePatch` to report. Each line is
 * examined once, when it is complete. In a patch that `parsePatch` accepts in the same mode, it finds the same paths and anchors.
 *
 * @example
 * const parser = createStreamingParser()
 * for (const piece of ['*** Begin Patch\n*** Add', ' File: a.txt\n+one\n']) console.log(parser.push(piece))
 */
export function createStreamingParser({ mode = 'lenient' }: { readonly mode?: Mode } = {}): StreamingParser {
  const strict = mode === 'strict'
  const operations: Building[] = []
  let rest = ''
  /** The indentation of the Begin marker, which the other lines then also have. Undefined until it was found. */
  let indent: string | undefined
  let hasEnded = false
  let above = nothingAbove
  let operation: Operation = { adds: false, paths: [] }
  /** Lines that may be the headers of a diff: only the line behind them decides. */
  let held: string[] = []

  const take = (written: string): void => {
    if (hasEnded) return
    if (indent === undefined) {
      const bytes = Buffer.from(written)
      if (isMarker(bytes, 0, bytes.length, 'begin', strict)) indent = /^[ \t]*/.exec(written)?.[0] ?? ''
      return
    }
    const line = indent !== '' && written.startsWith(indent) ? written.slice(indent.length) : written
    const isHeld = isInGitHeader(line, operation.adds)
    if (held.length === 0 && (strict || !above.isAtTop || !isHeld)) return takeLine(line)
    held.push(line)
    if (isHeld) return
    const lines = held
    held = []
    const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''))
    const found = gitHeaders(bytes, 0, bytes.length, operation)
    if (found !== undefined) above = below(above, 'git-header')
    for (const each of lines.slice(found?.lines ?? 0)) takeLine(each)
  }
  const takeLine = (line: string): void => {
    // Such a line belongs to the line above it.
    if (!strict && isRemark(line) && ['body', 'added', 'removed'].includes(above.last ?? '')) return
    const bytes = Buffer.from(`${line}\n`)
    const current = operations.at(-1)
    const isEnd = !/^[ +-]/.test(line) && isMarker(bytes, 0, bytes.length, 'end', strict)
    const kind = isEnd ? 'end' : kindOfLine(bytes, 0, bytes.length, above, strict)
    if (isEnd) hasEnded = true
    if (isEnd || isHeader(kind)) {
      if (current !== undefined) current.isComplete = true
    }
    if (isHeader(kind)) operations.push({ type: kind, path: pathIn(line, strict), ...untouched() })
    else if (current !== undefined) takeBody(current, kind, line, above.last, strict)
    above = below(above, kind)
    if (!strict && above.isAtTop && kind !== 'blank') operation = operationAt(operation, kind, line)
  }
  return {
    push: (text) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(withoutReturns(line))
      // The last line of a patch often doesn't end with a newline.
      if (/^\s*\*\*\* End Patch\s*$/.test(rest)) take(withoutReturns(rest))
      return operations
    },
    operations: () => operations,
    isComplete: () => hasEnded,
  }
}

function untouched(): Omit<Building, 'type' | 'path'> {
  return { moveTo: undefined, chunks: [], added: 0, removed: 0, isComplete: false }
}

function pathIn(header: string, strict: boolean): string {
  const { path, undecorated } = pathOf(header, strict)
  return undecorated ?? path
}

function takeBody(
  operation: Building,
  kind: TokenKind,
  line: string,
  last: TokenKind | undefined,
  strict: boolean,
): void {
  const chunk = operation.chunks.at(-1)
  switch (kind) {
    case 'move':
    case 'late-move':
      operation.moveTo = pathIn(line, strict)
      return
    case 'anchor': {
      const found = anchorOf(line, strict)
      const anchors = typeof found === 'string' ? [found] : []
      if (last === 'anchor') chunk?.anchors.push(...anchors)
      else operation.chunks.push({ anchors, lines: [] })
      return
    }
    case 'body':
    case 'added':
    case 'removed':
      if (line.startsWith('+')) operation.added++
      if (line.startsWith('-')) operation.removed++
      if (chunk === undefined || (operation.type === 'update' && last !== 'body' && last !== 'anchor'))
        operation.chunks.push({ anchors: [], lines: [line] })
      else chunk.lines.push(line)
      return
    default:
      return
  }
}

function withoutReturns(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(0, end)
}
