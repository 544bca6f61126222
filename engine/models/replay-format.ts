import * as z from 'zod'
import { readNamedFile } from '../../sandbox/index.ts'
import { ModelError } from '../core/model.ts'
import type { ModelEvent, ToolCall, Usage } from '../core/model.ts'
import { explainIssues } from './expect-shape.ts'
import { readSearch } from './read-search.ts'
import { counted } from '../core/text/counted.ts'

/**
 * A recorded conversation: JSON lines, easy to write by hand.
 *
 * The first line identifies the file: `{"portcullis_replay": 1}`. It may also contain `model`, `note` and `prompt`. Every other line is one
 * response of the model, used in order:
 *
 *     {"events": [{"type": "message", "text": "I'll look."}, {"type": "tool_call", "name": "exec_command", "arguments": {"cmd": "ls"}}]}
 *     {"expect": [["README.md", "src"]], "events": [{"type": "message", "text": "Done."}]}
 *
 * A function call has `arguments` (an object, or text to be sent as it is); a freeform call has `input` (text). Any text may be a list of lines. Calls without
 * an `id` are numbered consecutively within the file: `call_1`, `call_2`…
 *
 * `expect` lists what the tools returned for the calls in the previous response, in order: text, a list of lines, or `{"ok": false,
 * "output": …}`. `replay-match.ts` lists the placeholders that they may contain. Without `expect`, nothing is compared. Empty lines are
 * skipped.
 */
const text = z
  .union([z.string(), z.array(z.string())], { error: 'expected text or a list of lines' })
  .transform((value) => (typeof value === 'string' ? value : value.join('\n')))

/** A web search by the provider. When the recording is played, the search is yielded as an event, and nothing is searched. */
const search = z
  .strictObject({ type: z.literal('web_search'), action: z.looseObject({ type: z.string() }) })
  .transform(({ type, action }) => ({ type, ...readSearch(action) }))

const event = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('message'), text }),
  z.strictObject({ type: z.literal('reasoning'), text }),
  search,
  z
    .strictObject({
      type: z.literal('tool_call'),
      id: z.string().min(1).optional(),
      name: z.string().min(1),
      arguments: z
        .union([z.record(z.string(), z.unknown()), z.string(), z.array(z.string())], {
          error: 'expected an object, text or a list of lines',
        })
        .optional(),
      input: text.optional(),
    })
    .refine((call) => (call.arguments === undefined) !== (call.input === undefined), {
      error: "a tool_call must have either 'arguments' (of a function) or 'input' (freeform text)",
    }),
])

const expectation = z.union(
  [
    text.transform((output) => ({ ok: undefined, output })),
    z.strictObject({ ok: z.boolean().optional(), output: text }),
  ],
  { error: 'expected text, a list of lines, or {"ok": …, "output": …}' },
)

const response = z.strictObject({
  expect: z.array(expectation).optional(),
  events: z.array(event),
  usage: z
    .strictObject({
      input_tokens: z.number().default(0),
      cached_input_tokens: z.number().default(0),
      cache_write_input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
      reasoning_output_tokens: z.number().default(0),
    })
    .optional(),
})

const header = z.strictObject({
  portcullis_replay: z.literal(1),
  /** The model that was recorded, as information for readers. */
  model: z.string().optional(),
  note: text.optional(),
  /** The task of the run. Without it, the user provides the task when playing the recording. */
  prompt: text.optional(),
})

/** A line of a recording, as it is written to the file. */
export type RecordedLine = z.input<typeof header> | z.input<typeof response>

/** What a tool is expected to have returned. If `ok` is undefined, both success and failure are accepted. */
type Expectation = { readonly ok?: boolean | undefined; readonly output: string }

/** One response of a recording, and its line number in the file. */
export type RecordedResponse = {
  readonly line: number
  /** What the tools returned for the calls in the previous response. Undefined: any results are accepted. */
  readonly expect: readonly Expectation[] | undefined
  readonly events: readonly Exclude<ModelEvent, { type: 'retry' | 'cut' | 'notice' | 'end' | 'text_delta' }>[]
  readonly usage: Usage
}

/** A recorded conversation. */
export type Recording = { readonly prompt: string | undefined; readonly responses: readonly RecordedResponse[] }

/** Reads a recording. `shown` is the file's name in messages. Throws `ModelError` 'configuration' with the file and, for invalid text, the line. */
export function readRecording(path: string, shown: string): Recording {
  return parseRecording(textOf(path, shown), shown)
}

/** The maximum size of a recording, in bytes. */
export const largestRecording = 512 * 1024 * 1024

function textOf(path: string, shown: string): string {
  try {
    return new TextDecoder().decode(readNamedFile(path, { follow: true, maxBytes: largestRecording }))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new ModelError('configuration', `Can't read the recording ${shown}: ${why}.`)
  }
}

/** Parses the text of a recording. `shown` is the file's name in messages. Throws `ModelError` 'configuration' with the file and line. */
export function parseRecording(content: string, shown: string): Recording {
  const lines = content
    .split(/\r?\n/)
    .map((line, at) => ({ line: at + 1, source: line }))
    .filter(({ source }) => source.trim() !== '')
  const [first, ...rest] = lines
  if (first === undefined) throw broken(shown, 1, 'the file is empty; its first line must be {"portcullis_replay": 1}')
  const { prompt } = parseLine(header, first, shown)

  let calls = 0
  let open: readonly ToolCall[] = []
  const responses = rest.map((line): RecordedResponse => {
    const parsed = parseLine(response, line, shown)
    if (parsed.expect !== undefined && parsed.expect.length !== open.length) {
      const [expected, made] = [parsed.expect.length, open.length]
      throw broken(
        shown,
        line.line,
        `'expect' has ${counted(expected, 'result')}, but the preceding response makes ${counted(made, 'call')}`,
      )
    }
    const events = parsed.events.map((item): RecordedResponse['events'][number] => {
      if (item.type !== 'tool_call') return item
      const { name, id = `call_${++calls}` } = item
      const call: ToolCall =
        item.input === undefined
          ? { id, name, kind: 'function', input: asArguments(item.arguments) }
          : { id, name, kind: 'freeform', input: item.input }
      return { type: 'tool_call', call }
    })
    open = events.flatMap((item) => (item.type === 'tool_call' ? [item.call] : []))
    return {
      line: line.line,
      expect: parsed.expect,
      events,
      usage: {
        inputTokens: parsed.usage?.input_tokens ?? 0,
        cachedInputTokens: parsed.usage?.cached_input_tokens ?? 0,
        cacheWriteInputTokens: parsed.usage?.cache_write_input_tokens ?? 0,
        outputTokens: parsed.usage?.output_tokens ?? 0,
        reasoningOutputTokens: parsed.usage?.reasoning_output_tokens ?? 0,
      },
    }
  })
  return { prompt, responses }
}

/** Returns the arguments of a call as the text that a model would send: an object as JSON, a list of lines as one text. */
function asArguments(value: Readonly<Record<string, unknown>> | string | readonly string[] = ''): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.join('\n') : JSON.stringify(value)
}

function parseLine<T>(
  schema: z.ZodType<T>,
  line: { readonly line: number; readonly source: string },
  shown: string,
): T {
  let value: unknown
  try {
    value = JSON.parse(line.source)
  } catch (error) {
    throw broken(shown, line.line, `not JSON: ${(error as SyntaxError).message}`)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw broken(shown, line.line, explainIssues(parsed.error))
}

function broken(shown: string, line: number, what: string): ModelError {
  return new ModelError('configuration', `${shown}:${line}: not a line of a recording: ${what}`)
}
