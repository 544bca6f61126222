import { resolve } from 'node:path'
import { ModelError } from '../core/model.ts'
import type { HistoryItem, Model, ModelEvent, ToolCall } from '../core/model.ts'
import { readRecording } from './replay-format.ts'
import type { RecordedResponse } from './replay-format.ts'
import { compareOutput } from './replay-match.ts'
import type { Difference } from './replay-match.ts'

/**
 * A model that says what a recording says, and checks on the way that the tools still return what the recording saw.
 * It starts at the first response that the history doesn't show yet, so a resumed run goes on where it stopped.
 *
 * Opening throws `ModelError` 'configuration' for a file that is missing or broken. Responding throws 'replay' when a
 * tool's result differs or the recording is used up.
 */
export async function openReplay(name: string, cwd: string): Promise<Model> {
  const file = name.replace(/^replay:/, '')
  if (file === '') throw new ModelError('configuration', `The model 'replay:' names no file: write 'replay:FILE'.`)
  const recording = await readRecording(resolve(cwd, file), file)
  let next: number | undefined
  return {
    name,
    // What was searched is part of the recording.
    searchesWeb: true,
    async *respond(request, signal) {
      signal.throwIfAborted()
      next ??= shownResponses(recording, request.history)
      const response = recording[next]
      if (response === undefined) throw usedUp(file, recording.length)
      checkResults(file, response, callsOf(recording[next - 1]), request.history, cwd)
      next++
      for (const event of response.events) {
        signal.throwIfAborted()
        if (event.type === 'message') yield { type: 'text_delta', text: event.text }
        yield settle(event, cwd)
      }
      yield { type: 'end', usage: response.usage }
    },
  }
}

/** An event of the recording for this run: `<<cwd>>` in what the model says is the working directory. */
function settle<T extends ModelEvent>(event: T, cwd: string): T | ModelEvent {
  const here = (text: string): string => text.replaceAll('<<cwd>>', cwd)
  switch (event.type) {
    case 'message':
    case 'reasoning':
      return { ...event, text: here(event.text) }
    case 'tool_call':
      return { ...event, call: { ...event.call, input: here(event.call.input) } }
    default:
      return event
  }
}

/** How many responses of the recording a history already holds. */
function shownResponses(recording: readonly RecordedResponse[], history: readonly HistoryItem[]): number {
  const calls = new Set(history.flatMap((item) => (item.type === 'tool_call' ? [item.call.id] : [])))
  const texts = new Set(
    history.flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? [item.text] : [])),
  )
  const last = recording.findLastIndex((response) =>
    response.events.some((event) =>
      event.type === 'tool_call' ? calls.has(event.call.id) : event.type === 'message' && texts.has(event.text),
    ),
  )
  return last + 1
}

function callsOf(response: RecordedResponse | undefined): readonly ToolCall[] {
  return (response?.events ?? []).flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
}

function checkResults(
  file: string,
  response: RecordedResponse,
  calls: readonly ToolCall[],
  history: readonly HistoryItem[],
  cwd: string,
): void {
  for (const [at, expected] of (response.expect ?? []).entries()) {
    const call = calls[at]
    if (call === undefined) continue
    const which = `call ${at + 1} of ${calls.length} (${describe(call)})`
    const result = history.findLast((item) => item.type === 'tool_result' && item.callId === call.id)
    const where = `${file}:${response.line}: the recording no longer fits:`
    if (result?.type !== 'tool_result') throw new ModelError('replay', `${where} ${which} has no result.`)
    const difference = compareOutput(expected.output, result.output, cwd)
    if (difference !== undefined) {
      const line = difference.gotAt + 1
      throw new ModelError(
        'replay',
        `${where} ${which} returned something else, first at its line ${line}:\n${show(difference)}`,
      )
    }
    if (expected.ok !== undefined && expected.ok !== result.ok) {
      const [was, is] = expected.ok ? ['succeeded', 'failed'] : ['failed', 'succeeded']
      throw new ModelError('replay', `${where} ${which} ${was} when it was recorded, and ${is} now.`)
    }
  }
}

/** The lines around a difference, as a unified diff shows them. */
function show({ expected, got, expectedAt, gotAt }: Difference): string {
  const before = got.slice(Math.max(0, gotAt - 3), gotAt).map((line) => `    ${clip(line)}`)
  return [
    ...before,
    ...side('-', expected.slice(expectedAt), '(the recording has nothing more)'),
    ...side('+', got.slice(gotAt), '(nothing more was returned)'),
    "  Lines with '-' are the recording's, lines with '+' this run's.",
  ].join('\n')
}

function side(sign: string, lines: readonly string[], none: string): readonly string[] {
  const shown = lines.slice(0, 6).map((line) => `  ${sign} ${clip(line)}`)
  if (lines.length === 0) return [`  ${sign} ${none}`]
  return lines.length > 6 ? [...shown, `  ${sign} … ${lines.length - 6} more lines`] : shown
}

function describe(call: ToolCall): string {
  return clip(`${call.name} ${call.input.split('\n')[0] ?? ''}`, 80)
}

function clip(line: string, limit = 200): string {
  return line.length > limit ? `${line.slice(0, limit)}…` : line
}

function usedUp(file: string, responses: number): ModelError {
  return new ModelError(
    'replay',
    `${file}: the recording is used up: it has ${responses} responses, and the run asked for one more.`,
  )
}
