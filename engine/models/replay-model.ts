import { resolve } from 'node:path'
import { ModelError } from '../core/model.ts'
import type { HistoryItem, Model, ModelEvent } from '../core/model.ts'
import { findDifferences, unknownTools, type FoundDifference } from './replay-differences.ts'
import { readRecording } from './replay-format.ts'
import type { RecordedResponse, Recording } from './replay-format.ts'
import { counted } from '../core/text/counted.ts'

/**
 * Opens a model that plays back a recording and checks along the way that the tools still return what was recorded. It starts at the first
 * response that the history doesn't contain yet, so a resumed run continues where it stopped. Opening throws `ModelError` 'configuration'
 * if the file is missing or broken. `respond` throws 'replay' if a tool's result differs or the recording is used up.
 */
export async function openReplay(name: string, cwd: string): Promise<Model> {
  const file = name.replace(/^replay:/, '')
  if (file === '') throw new ModelError('configuration', `The model 'replay:' names no file: write 'replay:FILE'.`)
  return playRecording(readRecording(resolve(cwd, file), file), { name, file, cwd })
}

/** How a recording is played. */
export type PlayOptions = {
  /** The model's name. */
  readonly name: string
  /** The recording's file name, for messages. */
  readonly file: string
  readonly cwd: string
  /**
   * Whether the run continues after a difference. If so, the run fails only before the last response, with a list of all differences. By default, it
   * fails at the first difference.
   */
  readonly keepGoing?: boolean
  /**
   * Called before the last response. Receives all differences, of which there may be none, and returns a sentence about the outcome, which is shown
   * as a notice. If this function is set, differences don't make the run fail.
   */
  readonly settle?: (differences: readonly FoundDifference[]) => string
}

/**
 * Creates a model that plays back a recording. `respond` throws `ModelError` 'replay' if the recording is used up and, depending on `options`, if a
 * result differs.
 */
export function playRecording({ responses: recording }: Recording, options: PlayOptions): Model {
  const { name, file, cwd, keepGoing = false, settle: settleAll } = options
  let next: number | undefined
  const found: FoundDifference[] = []
  return {
    name,
    // A search by the provider is part of the recording, and is played back like any other event.
    searchesWeb: true,
    async *respond(request, signal) {
      signal.throwIfAborted()
      next ??= shownResponses(recording, request.history)
      const response = recording[next]
      if (response === undefined) throw usedUp(file, recording.length)
      const differences = findDifferences(recording, next, request.history, { file, cwd })
      const unknown = unknownTools(recording[next - 1], request.tools)
      found.push(...differences)
      if (!keepGoing && settleAll === undefined) {
        if (differences[0] !== undefined) throw new ModelError('replay', `${differences[0].message}${unknown}`)
      } else if (next === recording.length - 1) {
        if (settleAll !== undefined) yield { type: 'notice', message: settleAll(found) }
        else if (found.length > 0) throw new ModelError('replay', listed(found))
      }
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

/** Adapts an event of the recording to this run: `<<cwd>>` in messages, reasoning and calls becomes the working directory. */
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

/** Counts how many of the recording's responses are already in a history. */
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

function listed(found: readonly FoundDifference[]): string {
  const count = counted(found.length, 'result differs', 'results differ')
  return [`${count} from the recording:`, ...found.map(({ message }) => message)].join('\n')
}

function usedUp(file: string, responses: number): ModelError {
  return new ModelError(
    'replay',
    `${file}: the run requested more responses than the recording contains (${responses}).`,
  )
}
