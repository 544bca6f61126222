import * as z from 'zod'
import { timeoutSignal } from '../../sandbox/index.ts'
import type { OutputSchema } from '../run/output-contract.ts'
import type { HandlerResult } from './handler-result.ts'
import type { Handler } from './hooks-schema.ts'

/** A question to a model. Either the model answers at once, or an agent may inspect files first. */
type HookQuestion = {
  readonly kind: 'prompt' | 'agent'
  readonly text: string
  /** The name of the model. Undefined: the run's own model. */
  readonly model: string | undefined
}

/** Returns a model's final message. Rejects if the model can't be asked. */
export type AskModel = (question: HookQuestion, signal: AbortSignal) => Promise<string>

const Answer = z.object({ ok: z.boolean(), reason: z.string().optional() })

/**
 * The schema of `Answer` for an agent's final message. `reason` is required here, because providers enforce only schemas in which every property is required.
 */
export const judgement: OutputSchema = {
  schema: {
    type: 'object',
    properties: {
      ok: { type: 'boolean', description: 'Whether the event may proceed.' },
      reason: { type: 'string', description: 'The reason if it may not; otherwise empty.' },
    },
    required: ['ok', 'reason'],
    additionalProperties: false,
  },
  validate: (value) => {
    const answer = Answer.safeParse(value)
    return answer.success ? [] : [z.prettifyError(answer.error)]
  },
}

/** The sentences that specify the format of the answer. They follow the user's text. */
const forms = {
  prompt: 'Answer with one JSON object and nothing else: {"ok": true}, or {"ok": false, "reason": "why"}.',
  agent: 'Inspect what you need, then answer: {"ok": true, "reason": ""}, or {"ok": false, "reason": "why"}.',
}

/** Asks a model, or an agent that may inspect files first, whether the event may proceed. Any answer other than the requested object is a failure. */
export async function runPromptHook(
  handler: Extract<Handler, { type: 'prompt' | 'agent' }>,
  input: string,
  ask: AskModel,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HandlerResult> {
  const inTime = timeoutSignal(options.timeoutMs)
  const filled = handler.prompt.includes('$ARGUMENTS')
    ? handler.prompt.replaceAll('$ARGUMENTS', () => input)
    : `${handler.prompt}\n\n${input}`
  let said: string
  try {
    const question = { kind: handler.type, text: `${filled}\n\n${forms[handler.type]}`, model: handler.model }
    said = await ask(question, AbortSignal.any([inTime, options.signal]))
  } catch (error) {
    if (inTime.aborted) return { status: 'failed', reason: `the model took longer than ${options.timeoutMs / 1000} s` }
    return { status: 'failed', reason: `the model could not be asked: ${(error as Error).message}` }
  }
  const answer = Answer.safeParse(parse(said))
  if (!answer.success) return { status: 'failed', reason: 'the model\'s answer was not {"ok": …}' }
  if (answer.data.ok) return { status: 'answered', output: {}, text: '' }
  return { status: 'blocked', reason: answer.data.reason ?? 'the model gave no reason' }
}

/** Parses JSON, even inside a code fence. Undefined if it is invalid. */
function parse(text: string): unknown {
  const trimmed = text.trim()
  const fence = /^```(?:json)?[ \t\r]*\n/.exec(trimmed)?.[0]
  const bare = fence !== undefined && trimmed.endsWith('```') ? trimmed.slice(fence.length, -3) : text
  try {
    return JSON.parse(bare)
  } catch {
    return undefined
  }
}
