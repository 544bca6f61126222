import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import { OpenQuestions } from '../open-questions.ts'
import { printJson } from '../print.ts'

const text = z.string().optional()
const source = z.looseObject({ type: z.string(), media_type: text, data: text })
const block = z.looseObject({ type: z.string(), text, source: source.optional() })

const known = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('user'),
    message: z.looseObject({ content: z.union([z.string(), z.array(block)]) }),
  }),
  z.looseObject({
    type: z.literal('control_request'),
    request_id: z.string(),
    request: z.looseObject({ subtype: z.string() }),
  }),
  z.looseObject({
    type: z.literal('control_response'),
    response: z.discriminatedUnion('subtype', [
      z.looseObject({ subtype: z.literal('success'), request_id: z.string(), response: z.unknown() }),
      z.looseObject({ subtype: z.literal('error'), request_id: z.string(), error: z.string() }),
    ]),
  }),
])

type Incoming = z.infer<typeof known>
type Response = Extract<Incoming, { type: 'control_response' }>['response']

/**
 * Reads a line of the client.
 *
 * @returns undefined for an empty line, and for messages that only other programs understand
 * @throws UserError `usage` for what is no message, or one without what its type requires
 */
export function readIncoming(line: string): Incoming | undefined {
  if (line.trim() === '') return undefined
  const shown = JSON.stringify(line.length > 80 ? `${line.slice(0, 79)}…` : line)
  const broken = (why: string, cause: unknown): UserError =>
    new UserError('usage', `Standard input: ${shown}: ${why}.`, { cause })
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw broken(`not JSON: ${(error as Error).message}`, error)
  }
  const typed = z.looseObject({ type: z.string() }).safeParse(value)
  if (!typed.success) throw broken('expected an object with a type', typed.error)
  if (!known.options.some(({ shape }) => shape.type.value === typed.data.type)) return undefined
  const { data, error } = known.safeParse(value)
  if (data === undefined) throw broken(z.prettifyError(error).replaceAll('\n', ' '), error)
  return data
}

/** The program at the other end of the standard streams. Either side may ask the other: a question has an id, and an answer names it. */
export class Client {
  readonly #questions = new OpenQuestions()

  /** Asks the client, as `OpenQuestions` does. */
  ask(request: object, signal: AbortSignal): Promise<unknown> {
    const put = (request_id: string): void => printJson({ type: 'control_request', request_id, request })
    const withdraw = (request_id: string): void => printJson({ type: 'control_cancel_request', request_id })
    return this.#questions.ask({ put, withdraw }, signal)
  }

  /** Takes the client's answer to one of our questions. */
  answered(given: Response): void {
    this.#questions.answered(
      given.request_id,
      given.subtype === 'error' ? { error: given.error } : { result: given.response },
    )
  }

  /** Answers a question of the client, with an error if `work` says that it can't be answered. */
  async answer(request_id: string, work: () => object | Promise<object>): Promise<void> {
    const said = (response: object): void =>
      printJson({ type: 'control_response', response: { ...response, request_id } })
    try {
      said({ subtype: 'success', response: await work() })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      said({ subtype: 'error', error: error.message })
    }
  }

  /** The client will answer no more: its open questions and later ones fail. */
  leave(why: string): void {
    this.#questions.leave(why)
  }
}
