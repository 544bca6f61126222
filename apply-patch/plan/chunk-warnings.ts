import type { Warning } from '../change-set.ts'
import type { SeekFailure } from '../patch-error.ts'
import type { Match } from '../match/seek.ts'
import type { PreparedChunk } from '../match/prepare-chunks.ts'
import type { Piece } from '../match/split-chunk.ts'

/** The chunk that a failure or a warning is about. */
export type Where = Pick<SeekFailure, 'path' | 'absolute' | 'hunk' | 'chunk' | 'patchLine'>
type FoundMatch = Extract<Match, { type: 'found' }>

const passNames = {
  exact: '',
  'trimmed-end': 'white space at the end of lines',
  trimmed: 'indentation',
  punctuation: 'typographic punctuation',
}

/** The place of a chunk in a patch, as messages name it. */
export function placeOf({ path, hunk, chunk }: Where): string {
  return `${path}, hunk ${hunk}, chunk ${chunk}`
}

/** The warning about a chunk whose parts are in different places. */
export function splitWarning(pieces: readonly Piece[], where: Where): Warning {
  const fileLines = pieces.map(({ line }) => line + 1)
  const message = `${placeOf(where)}: its lines are not one after the other in the file; its parts were matched at lines ${fileLines.join(', ')}`
  return { code: 'split-chunk', message, path: where.path, patchLine: where.patchLine, fileLines }
}

/** What a careful user should know about a match. */
export function warningsOf(
  match: FoundMatch,
  { chunk, oldFrom, oldTo, lines }: PreparedChunk,
  isReindented: boolean,
  where: Where,
): readonly Warning[] {
  const isUnmarked = match.unmarked !== undefined || chunk.unmarked !== undefined
  const old = match.length === oldTo - oldFrom ? [] : lines.filter(({ mark }) => mark !== 'added')
  // A line without even a mark only separates the chunk from what follows.
  const leftOut = old.slice(match.length).filter(({ start }) => start > 0 && chunk.body[start - 1] !== 10).length
  const isUsual = match.pass === 'exact' && match.ambiguous.length === 0 && match.abbreviated === undefined
  if (isUsual && leftOut === 0 && match.outvoted === undefined && !match.sharesContext && !isUnmarked) return []
  const warnings: Warning[] = []
  const { path, patchLine } = where
  const fileLine = match.line + 1
  const warn = (code: string, what: string, fileLines: readonly number[] = [fileLine]): void => {
    warnings.push({ code, message: `${placeOf(where)}: ${what}`, path, patchLine, fileLines })
  }
  if (isUnmarked)
    warn('unmarked-context', `matched at line ${fileLine} only with context lines that lack the space before them`)
  else if (match.pass !== 'exact') {
    const shifted = isReindented ? '; the added lines were indented as the file is' : ''
    warn('fuzzy-match', `matched at line ${fileLine} only after ignoring ${passNames[match.pass]}${shifted}`)
  }
  if (match.ambiguous.length > 0) {
    const lines = match.ambiguous.map((line) => line + 1)
    warn(
      'ambiguous-match',
      `fits at lines ${listLines(match.ambiguous)}; line ${fileLine} was used (to choose another place, add lines of context)`,
      lines,
    )
  }
  if (match.outvoted !== undefined) {
    const what = `also fits at lines ${listLines(match.outvoted)}; line ${fileLine} was used, because it is the only one below its heading`
    warn('heading-chose', what, [fileLine, ...match.outvoted.map((line) => line + 1)])
  }
  if (leftOut > 0) warn('blank-lines-left-out', `matched at line ${fileLine} only without the blank lines at its end`)
  if (match.sharesContext)
    warn('shared-context', `matched at line ${fileLine} by reusing context of the previous chunk`)
  if (match.abbreviated !== undefined)
    warn('abbreviated-heading', `took the text after "@@" for the beginning of line ${match.abbreviated + 1}`, [
      match.abbreviated + 1,
    ])
  return warnings
}

/** @param lines 0-based */
function listLines(lines: readonly number[]): string {
  const listed = lines.slice(0, 20).map((line) => line + 1)
  return `${listed.join(', ')}${lines.length > listed.length ? ' and more' : ''}`
}
