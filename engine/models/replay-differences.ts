import type { HistoryItem, ToolCall } from '../core/model.ts'
import type { RecordedResponse } from './replay-format.ts'
import { compareOutput, type Difference } from './replay-match.ts'
import { counted } from '../core/text/counted.ts'

/** A result that differs from the recorded one. */
export type FoundDifference = {
  /**
   * `line` is the number of the recording's line that expects the result. `at` is the position of the result in that line's `expect` list, counted
   * from 0.
   */
  readonly line: number
  readonly at: number
  /** The actual result; undefined if the call has none. */
  readonly result: Extract<HistoryItem, { type: 'tool_result' }> | undefined
  /** A description of the difference, with the lines around it. */
  readonly message: string
}

function callsOf(response: RecordedResponse | undefined): readonly ToolCall[] {
  return (response?.events ?? []).flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
}

/**
 * Finds the results that differ from what the next response of the recording expects.
 *
 * @param next the position of that response in `recording`
 */
export function findDifferences(
  recording: readonly RecordedResponse[],
  next: number,
  history: readonly HistoryItem[],
  { file, cwd }: { readonly file: string; readonly cwd: string },
): readonly FoundDifference[] {
  const response = recording[next]
  const calls = callsOf(recording[next - 1])
  return (response?.expect ?? []).flatMap((expected, at): readonly FoundDifference[] => {
    const call = calls[at]
    if (response === undefined || call === undefined) return []
    const which = `call ${at + 1} of ${calls.length} (${describe(call)})`
    const where = `${file}:${response.line}: the recording no longer matches:`
    const result = history.findLast((item) => item.type === 'tool_result' && item.callId === call.id)
    const found = (message: string): readonly FoundDifference[] => [
      {
        line: response.line,
        at,
        result: result?.type === 'tool_result' ? result : undefined,
        message: `${where} ${which} ${message}`,
      },
    ]
    if (result?.type !== 'tool_result') return found('has no result.')
    const difference = compareOutput(expected.output, result.output, cwd)
    if (difference !== undefined) {
      const line = difference.gotAt + 1
      const nearest = nearestRecorded(recording, next, result.output, cwd)
      const near =
        nearest === undefined ? '' : `\n  The closest recorded result is at ${file}:${nearest.line}: ${nearest.how}.`
      return found(`returned a different result, starting at line ${line}:\n${show(difference)}${near}`)
    }
    if (expected.ok === undefined || expected.ok === result.ok) return []
    const [was, is] = expected.ok ? ['succeeded', 'failed'] : ['failed', 'succeeded']
    return found(`${was} in the recording, but ${is} in this run.`)
  })
}

/**
 * Finds another recorded result that is more similar to an actual result than the expected one is. This happens if the calls came in a different
 * order, or if a command now returns what it returned later in the recording. Returns its line and a description; undefined if there is none.
 */
function nearestRecorded(
  recording: readonly RecordedResponse[],
  next: number,
  output: string,
  cwd: string,
): { readonly line: number; readonly how: string } | undefined {
  let best: { readonly line: number; readonly how: string; readonly share: number } | undefined
  for (const [place, response] of recording.entries()) {
    for (const [at, { output: expected }] of (response.expect ?? []).entries()) {
      const difference = compareOutput(expected, output, cwd)
      // A match with a pattern of nothing but placeholders doesn't mean that the results are similar, so it is skipped.
      if (difference === undefined && /^\s*(?:<<\w+>>\s*)*$/.test(expected)) continue
      const share = difference === undefined ? 1 : agreement(difference)
      const call = callsOf(recording[place - 1])[at]
      if (best !== undefined && share <= best.share && !(share === best.share && place === next)) continue
      const fits = difference === undefined ? 'it matches' : `it first differs at line ${difference.gotAt + 1}`
      best = { line: response.line, how: `${fits}${call === undefined ? '' : ` (${describe(call)})`}`, share }
    }
  }
  const own = recording[next]?.line
  return best === undefined || best.line === own || best.share < nearEnough ? undefined : best
}

/** Two results count as related only if at least this share of their lines is equal. */
const nearEnough = 0.6

/** How similar two texts are: the number of equal lines at the beginning and at the end, divided by the number of lines of the longer text. */
function agreement({ expected, got, expectedAt, gotAt }: Difference): number {
  const longer = Math.max(expected.length, got.length, 1)
  let behind = 0
  while (
    behind < Math.min(expected.length - expectedAt, got.length - gotAt) &&
    expected.at(-1 - behind) === got.at(-1 - behind)
  )
    behind++
  return (Math.min(expectedAt, gotAt) + behind) / longer
}

/**
 * Returns a sentence to append to a message. It lists the tools that a recorded response calls but this run doesn't have; `''` if there are none, or
 * if this run has no tools at all.
 */
export function unknownTools(
  response: RecordedResponse | undefined,
  tools: readonly { readonly name: string }[],
): string {
  const names = [...new Set(callsOf(response).map(({ name }) => name))]
  const missing = names.filter((name) => tools.every((tool) => tool.name !== name))
  if (missing.length === 0 || tools.length === 0) return ''
  return `\n  The recording uses tools that this run does not have (${missing.join(', ')}), so it was made with another version or with other settings.`
}

/** Shows the lines around a difference in the style of a unified diff. */
function show({ expected, got, expectedAt, gotAt }: Difference): string {
  const before = got.slice(Math.max(0, gotAt - 3), gotAt).map((line) => `    ${clip(line)}`)
  return [
    ...before,
    ...side('-', expected.slice(expectedAt), '(the recording ends here)'),
    ...side('+', got.slice(gotAt), '(the result ends here)'),
    "  Lines with '-' are from the recording, lines with '+' from this run.",
  ].join('\n')
}

function side(sign: string, lines: readonly string[], none: string): readonly string[] {
  const shown = lines.slice(0, 6).map((line) => `  ${sign} ${clip(line)}`)
  if (lines.length === 0) return [`  ${sign} ${none}`]
  return lines.length > 6 ? [...shown, `  ${sign} … ${counted(lines.length - 6, 'more line')}`] : shown
}

function describe(call: ToolCall): string {
  return clip(`${call.name} ${call.input.split('\n')[0] ?? ''}`, 80)
}

function clip(line: string, limit = 200): string {
  return line.length > limit ? `${line.slice(0, limit)}…` : line
}
