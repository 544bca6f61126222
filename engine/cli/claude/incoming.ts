import * as z from 'zod'
import type { Image } from '../../core/model.ts'
import { UserError } from '../../core/user-error.ts'

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z
    .looseObject({ type: z.string(), media_type: z.string().optional(), data: z.string().optional() })
    .optional(),
})

const user = z.looseObject({
  type: z.literal('user'),
  message: z.looseObject({ content: z.union([z.string(), z.array(block)]) }),
})

const request = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
})

const response = z.looseObject({
  type: z.literal('control_response'),
  response: z.discriminatedUnion('subtype', [
    z.looseObject({ subtype: z.literal('success'), request_id: z.string(), response: z.unknown() }),
    z.looseObject({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
  ]),
})

const known = z.discriminatedUnion('type', [user, request, response])

/** A message of the client that this program understands. */
type Incoming = z.infer<typeof known>

/**
 * Reads a line of the client.
 *
 * @returns undefined for an empty line, and for messages that only other programs understand
 * @throws UserError `usage` for what is no message, or one without what its type requires
 */
export function readIncoming(line: string): Incoming | undefined {
  if (line.trim() === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw broken(line, `not JSON: ${(error as Error).message}`, error)
  }
  const typed = z.looseObject({ type: z.string() }).safeParse(value)
  if (!typed.success) throw broken(line, 'expected an object with a type', typed.error)
  if (!known.options.some(({ shape }) => shape.type.value === typed.data.type)) return undefined
  const { data, error } = known.safeParse(value)
  if (data === undefined) throw broken(line, z.prettifyError(error).replaceAll('\n', ' '), error)
  return data
}

function broken(line: string, why: string, cause: unknown): UserError {
  const shown = line.length > 80 ? `${line.slice(0, 79)}…` : line
  return new UserError('usage', `Standard input: ${JSON.stringify(shown)}: ${why}.`, { cause })
}

/** What a user message says and shows. */
export function taskOf({ message: { content } }: z.infer<typeof user>): {
  readonly prompt: string
  readonly images: readonly Image[]
} {
  if (typeof content === 'string') return { prompt: content, images: [] }
  const images = content.flatMap(({ type, source }) =>
    type === 'image' && source?.media_type !== undefined && source.data !== undefined
      ? [{ mediaType: source.media_type, data: source.data }]
      : [],
  )
  const texts = content.flatMap(({ text }) => (text === undefined ? [] : [text]))
  return { prompt: texts.join('\n'), images }
}
