import * as z from 'zod'
import type { Validate } from '../core/json-schema.ts'
import type { HistoryItem, Model, ModelRequest } from '../core/model.ts'
import { isStrict } from '../models/index.ts'
import { defineTool } from '../tools/define-tool.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'

/** A JSON Schema that a run's final message must match. */
export type OutputSchema = {
  readonly schema: Readonly<Record<string, unknown>>
  readonly validate: Validate
  /**
   * The tool through which the result must be delivered. Default: the final message is the result, and if the provider can't enforce the schema, the
   * model may also deliver it through the tool `structured_output`.
   */
  readonly delivery?: Delivery
}

/** A tool through which the result is always delivered, even if the provider could enforce the schema. */
type Delivery = {
  readonly name: string
  readonly description: string
  /** Receives a delivered result that matches the schema. Returns the final message, or what the model must correct first. */
  readonly take: (
    value: unknown,
    context: ToolContext,
  ) => Promise<{ readonly message: string } | { readonly refused: string }>
}

/** What happens after a response: the run is done, the model is asked for a correction, or the run fails because corrections did not help. */
type Judgement =
  /** `delivered`: the message, if the model delivered it through a tool. */
  | { readonly done: true; readonly delivered?: string }
  | { readonly done: false; readonly correction: string }
  | { readonly done: false; readonly failure: string }

const maxCorrections = 3
const toolName = 'structured_output'
/** The schema's name in requests: the one that Codex sends, by which gateways and recorded requests recognize it. */
const schemaName = 'codex_output_schema'

/**
 * Makes sure that a model's final message matches a schema. If the provider can enforce the schema, and no other way of delivering the message was
 * chosen, the provider is asked to do so; otherwise, the model gets a tool for delivering the message. In both cases the message is checked here, and
 * if it doesn't match, it is returned to the model with a list of its errors.
 */
export class OutputContract {
  readonly #schema: OutputSchema
  /** The schema that the provider is asked to enforce; undefined if the provider can't enforce it, or if the result is delivered through a tool. */
  readonly request: ModelRequest['outputSchema']
  /** The tool for delivering the message, to be added to the run's tools; undefined if the provider enforces the schema. */
  readonly tool: Tool | undefined
  #corrections = 0
  #delivered: string | undefined
  #misfit: readonly string[] = []

  constructor(schema: OutputSchema, model: Pick<Model, 'enforcesSchema'>) {
    this.#schema = schema
    const enforced =
      schema.delivery === undefined &&
      model.enforcesSchema === true &&
      isStrict(schema.schema) &&
      schema.schema['type'] === 'object'
    this.request = enforced ? { name: schemaName, schema: schema.schema } : undefined
    this.tool = enforced ? undefined : this.#deliveryTool()
  }

  /** Judges a response without calls, which is the model's final message. */
  judgeMessage(history: readonly HistoryItem[]): Judgement {
    const { delivery } = this.#schema
    if (delivery !== undefined) {
      const words = `You ended without delivering the result. Deliver it by calling ${delivery.name}.`
      return this.#correct(['nothing was delivered'], words, [])
    }
    const errors = this.#errorsOf(lastMessage(history))
    if (errors.length === 0) return { done: true }
    const how =
      this.tool === undefined ? 'Answer again, with only the JSON' : `Deliver the result by calling ${toolName}`
    return this.#correct(errors, `Your final message does not match the required schema. ${how}.`)
  }

  /** Judges the result that the model delivered through a tool call in its latest response. Undefined if it delivered none. */
  judgeCalls(): Judgement | undefined {
    const delivered = this.#delivered
    // If the model continues nevertheless, it has to deliver its result again.
    this.#delivered = undefined
    if (delivered !== undefined) return { done: true, delivered }
    const errors = this.#misfit
    this.#misfit = []
    return errors.length === 0 ? undefined : this.#correct(errors, '')
  }

  /** `shown`: the errors to report to the model, of which it sees the first 20. Default: `errors`. */
  #correct(errors: readonly string[], words: string, shown = errors): Judgement {
    if (++this.#corrections > maxCorrections) {
      const failure = `The final message still does not match the output schema after ${maxCorrections} corrections:\n${listed(errors).join('\n')}`
      return { done: false, failure }
    }
    return { done: false, correction: [words, ...listed(shown)].join('\n') }
  }

  #errorsOf(message: string): readonly string[] {
    try {
      return this.#schema.validate(JSON.parse(message))
    } catch (error) {
      return [`not JSON: ${(error as Error).message}`]
    }
  }

  #deliveryTool(): Tool {
    const { schema, validate, delivery } = this.#schema
    const { parameters, unwrap } = asParameters(schema)
    const input = z
      .unknown()
      .superRefine((value, context) => {
        const result = unwrap(value)
        // A missing result is checked for separately, because a schema that accepts anything would also accept `undefined`.
        this.#misfit = result === undefined ? ['the result is missing'] : validate(result)
        for (const message of this.#misfit) context.addIssue({ code: 'custom', message })
      })
      .meta(parameters)
    return defineTool({
      name: delivery?.name ?? toolName,
      guarded: true,
      description:
        delivery?.description ??
        'Delivers the final result of the task and ends the task. Call it once, when everything else is done.',
      input,
      run: async (value, context) => {
        const result = unwrap(value)
        const taken =
          delivery === undefined ? { message: JSON.stringify(result) } : await delivery.take(result, context)
        if ('refused' in taken) return { ok: false, output: taken.refused }
        this.#delivered = taken.message
        return { ok: true, output: 'Delivered.' }
      },
    })
  }
}

/**
 * Turns a schema into the parameters of a tool. The parameters of a tool must be an object, so a schema for anything else becomes the schema of an
 * object's only property.
 */
function asParameters(schema: OutputSchema['schema']): {
  readonly parameters: Record<string, unknown>
  unwrap(value: unknown): unknown
} {
  if (schema['type'] === 'object') return { parameters: { ...schema }, unwrap: (value) => value }
  // References in the schema start at its root, so the definitions that they refer to must stay at the root.
  const { $schema: _, $defs, definitions, ...result } = schema
  const shared = Object.fromEntries(Object.entries({ $defs, definitions }).filter(([, value]) => value !== undefined))
  return {
    parameters: {
      ...shared,
      type: 'object',
      properties: { result },
      required: ['result'],
      additionalProperties: false,
    },
    unwrap: (value) => (typeof value === 'object' && value !== null && 'result' in value ? value.result : undefined),
  }
}

/** The text of the model's last message, if nothing but reasoning follows it in the history; otherwise `''`. */
function lastMessage(history: readonly HistoryItem[]): string {
  for (const item of history.toReversed()) {
    if (item.type === 'message' && item.role === 'assistant') return item.text
    if (item.type !== 'reasoning') return ''
  }
  return ''
}

const listed = (errors: readonly string[]): readonly string[] => errors.slice(0, 20).map((error) => `- ${error}`)
