import { openNewFile } from '../../sandbox/index.ts'
import { ModelError } from '../core/model.ts'
import type { HistoryItem, Model, ModelEvent, ToolCall } from '../core/model.ts'
import type { RecordedLine } from './replay-format.ts'

/**
 * Wraps a model so that its responses and the results of its tool calls are recorded in a file that `replay:FILE` can play. Parts of the results that
 * vary between runs become placeholders, for example the working directory, paths of temporary files, and durations. Throws `ModelError`
 * 'configuration' if the file already exists or can't be written; a recording is never overwritten.
 *
 * @example
 * const model = await openModel('gpt-5.5', { env: { OPENAI_API_KEY: 'key' }, cwd: process.cwd() })
 * const recorded = await recordModel(model, 'conversation.jsonl', process.cwd()) // plays as replay:conversation.jsonl
 */
export async function recordModel(model: Model, file: string, cwd: string): Promise<Model> {
  const recording = openRecording(file)
  recording.append(recordingLine({ portcullis_replay: 1, model: model.name }))
  let open: readonly ToolCall[] = []
  return {
    get name() {
      return model.name
    },
    enforcesSchema: model.enforcesSchema ?? false,
    searchesWeb: model.searchesWeb ?? false,
    async *respond(request, signal) {
      const expect = open.map((call) => expectation(call, request.history, cwd))
      let said: ModelEvent[] = []
      for await (const event of model.respond(request, signal)) {
        if (event.type === 'retry') said = []
        else said.push(event)
        if (event.type === 'end') {
          open = said.flatMap((item) => (item.type === 'tool_call' ? [item.call] : []))
          recording.append(recordingLine(recordedResponse(expect, said, cwd)))
        }
        yield event
      }
    },
  }
}

/**
 * Creates the file of a recording. This happens before any command runs, and everything is written through the open descriptor, so a command that
 * replaces the file can't redirect what is written.
 */
function openRecording(file: string): ReturnType<typeof openNewFile> {
  try {
    return openNewFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'the file already exists; remove it, or name another file' : message
    throw new ModelError('configuration', `Can't record to ${file}: ${why}.`, { cause: error })
  }
}

/** Converts a line of a recording to text that ends with a line feed. */
export function recordingLine(value: RecordedLine): string {
  return `${JSON.stringify(value)}\n`
}

type Lines = string | string[]

/** Returns the result that a recording expects from a call: the actual one, with placeholders for what varies; if there is none, any failure. */
export function expectation(
  call: Pick<ToolCall, 'id'>,
  history: readonly HistoryItem[],
  cwd: string,
): { ok: boolean; output: Lines } {
  const result = history.findLast((item) => item.type === 'tool_result' && item.callId === call.id)
  if (result?.type !== 'tool_result') return { ok: false, output: '<<lines>>' }
  return { ok: result.ok, output: asLines(generalize(result.output, cwd)) }
}

/** Converts a response to a line of a recording. */
export function recordedResponse(
  expect: { ok: boolean; output: Lines }[],
  said: readonly ModelEvent[],
  cwd: string,
): RecordedLine {
  const events = said.flatMap((event) => recordedEvent(event, cwd))
  const usage = said.findLast((event) => event.type === 'end')?.usage
  return {
    ...(expect.length === 0 ? {} : { expect }),
    events,
    ...(usage === undefined
      ? {}
      : {
          usage: {
            input_tokens: usage.inputTokens,
            cached_input_tokens: usage.cachedInputTokens,
            cache_write_input_tokens: usage.cacheWriteInputTokens,
            output_tokens: usage.outputTokens,
            reasoning_output_tokens: usage.reasoningOutputTokens,
          },
        }),
  }
}

type RecordedEvent = Extract<RecordedLine, { events: unknown }>['events'][number]

function recordedEvent(event: ModelEvent, cwd: string): RecordedEvent[] {
  switch (event.type) {
    case 'message':
    case 'reasoning':
      return [{ type: event.type, text: asLines(replaceCwd(event.text, cwd)) }]
    case 'web_search':
      return [{ type: 'web_search', action: event.action }]
    case 'tool_call': {
      const { id, name, kind } = event.call
      const input = replaceCwd(event.call.input, cwd)
      if (kind === 'freeform') return [{ type: 'tool_call', id, name, input: asLines(input) }]
      return [{ type: 'tool_call', id, name, arguments: readableArguments(input) }]
    }
    case 'text_delta':
    case 'retry':
    case 'cut':
    case 'notice':
    case 'end':
      return []
    default:
      return event satisfies never
  }
}

/** Returns a call's arguments as an object if possible, because an object is easier to read; otherwise as the text that the model sent. */
function readableArguments(input: string): Record<string, unknown> | string {
  try {
    const value: unknown = JSON.parse(input)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : input
  } catch {
    // The text is not JSON. It is recorded as it is, because a recording keeps the model's mistakes.
    return input
  }
}

/**
 * Returns a text in the form in which it is recorded: a single line as a string, or several lines as a list, which is easier for people to read and
 * edit.
 */
function asLines(text: string): Lines {
  return text.includes('\n') ? text.split('\n') : text
}

function replaceCwd(text: string, cwd: string): string {
  return text.replaceAll(cwd, '<<cwd>>')
}

/** Replaces the parts of an output that vary from run to run with the placeholders that `replay-match.ts` describes. */
export function generalize(output: string, cwd: string): string {
  return replaceCwd(output, cwd)
    .replace(/(?<![\w.>-])(?:\/private)?\/(?:tmp|var\/folders)\/[^\s:'"()\]]+/g, '<<tmp>>')
    .replace(/\bduration_ms(:?) \d+(?:\.\d+)?/g, 'duration_ms$1 <<number>>')
    .replace(/\b\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|seconds?)\b/g, '<<duration>>')
    .replace(/\bChunk ID: [0-9a-f]+/g, 'Chunk ID: <<hash>>')
}
