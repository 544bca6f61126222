import { scanLine, type LineKind } from './parse/scan-line.ts'

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
 * examined once, when it is complete.
 *
 * @example
 * const parser = createStreamingParser()
 * for (const piece of ['*** Begin Patch\n*** Add', ' File: a.txt\n+one\n']) console.log(parser.push(piece))
 */
export function createStreamingParser(): StreamingParser {
  const operations: Building[] = []
  let rest = ''
  let hasBegun = false
  let hasEnded = false

  const take = (line: string): void => {
    if (hasEnded) return
    if (!hasBegun) {
      hasBegun = /^\W*begin patch\W*$/i.test(line)
      return
    }
    const current = operations.at(-1)
    const found = scanLine(line, current?.type === 'update')
    if (found.kind === 'end') {
      hasEnded = true
      if (current !== undefined) current.isComplete = true
    } else if (found.kind === 'add' || found.kind === 'delete' || found.kind === 'update') {
      if (current !== undefined) current.isComplete = true
      operations.push({
        type: found.kind,
        path: found.text,
        moveTo: undefined,
        chunks: [],
        added: 0,
        removed: 0,
        isComplete: false,
      })
    } else if (current !== undefined) takeBody(current, found.kind, found.text)
  }
  return {
    push: (text) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(withoutReturns(line))
      // The last line of a patch often doesn't end with a newline.
      if (/^\*\*\* End Patch\s*$/.test(rest)) take(rest)
      return operations
    },
    operations: () => operations,
    isComplete: () => hasEnded,
  }
}

function takeBody(operation: Building, kind: LineKind, text: string): void {
  const chunk = operation.chunks.at(-1)
  switch (kind) {
    case 'move':
      operation.moveTo = text
      return
    case 'anchor':
      if (chunk !== undefined && chunk.lines.length === 0) chunk.anchors.push(text)
      else operation.chunks.push({ anchors: text === '' ? [] : [text], lines: [] })
      return
    case 'body':
      if (text.startsWith('+')) operation.added++
      if (text.startsWith('-')) operation.removed++
      if (chunk === undefined) operation.chunks.push({ anchors: [], lines: [text] })
      else chunk.lines.push(text)
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
