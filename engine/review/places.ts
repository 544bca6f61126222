import { createHash } from 'node:crypto'
import type { DiffFile } from './parse-diff.ts'
import type { ReportedFinding } from './findings-schema.ts'

/** The location of a finding: a range of lines that the change shows. */
type Place = {
  readonly startLine: number
  readonly endLine: number
  /** Hashes of the lines that aren't blank. They depend on the text of a line, not on its number. */
  readonly linePrints: readonly string[]
}

/** The lines that a change shows. Only these may have findings. */
export class Places {
  readonly #files: ReadonlyMap<string, ReadonlyMap<number, string>>

  constructor(files: readonly DiffFile[]) {
    this.#files = new Map(files.map((file) => [file.path, linesOf(file)]))
  }

  /**
   * Returns the lines of the change that a finding is about: the lines that the finding names, except those outside the change.
   *
   * @returns undefined if the change shows none of them
   */
  find({
    path,
    start_line: start,
    end_line: end,
  }: Pick<ReportedFinding, 'path' | 'start_line' | 'end_line'>): Place | undefined {
    const lines = this.#files.get(path)
    if (lines === undefined) return undefined
    const shown = [...lines].filter(([number]) => number >= Math.min(start, end) && number <= Math.max(start, end))
    const [first, last] = [shown.at(0), shown.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const texts = shown.map(([, text]) => text).filter((text) => text.trim() !== '')
    return {
      startLine: first[0],
      endLine: last[0],
      linePrints: (texts.length === 0 ? [''] : texts.slice(0, mostPrints)).map((text) => print(path, text)),
    }
  }

  /** The lines of a file that the change shows, as ranges; undefined if the file isn't part of the change. */
  rangesOf(path: string): string | undefined {
    const lines = this.#files.get(path)
    if (lines === undefined) return undefined
    const ranges: [number, number][] = []
    for (const number of lines.keys()) {
      const last = ranges.at(-1)
      if (last !== undefined && number === last[1] + 1) last[1] = number
      else ranges.push([number, number])
    }
    return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
  }
}

/** The maximum number of hashes per finding. Even a finding about a whole file needs no more to be recognized again. */
const mostPrints = 100

function linesOf({ kind, hunks }: DiffFile): ReadonlyMap<number, string> {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  return new Map(
    kind === 'delete'
      ? lines.map(({ oldLine, text }) => [oldLine, text])
      : lines.flatMap(({ mark, newLine, text }) => (mark === '-' ? [] : [[newLine, text]])),
  )
}

/** Hashes a file's path and a line of it without whitespace, so that the line is still recognized if only its indentation has changed. */
function print(path: string, text: string): string {
  return shortHash([path, text.replaceAll(/\s/g, '')])
}

/** Hashes texts to 32 hex digits. */
export function shortHash(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 32)
}
