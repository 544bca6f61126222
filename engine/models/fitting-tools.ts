import type { HistoryItem, ModelEvent, ModelRequest, ToolCall, ToolDeclaration } from '../core/model.ts'
import { acceptableSchema, type AcceptableSchema } from './acceptable-schema.ts'

/** A request whose tools have schemas that every provider accepts, and the way back for the calls in the answer. */
type FittingRequest = {
  readonly request: ModelRequest
  /** Gives the arguments of calls the names that the tools themselves use. */
  readonly back: (events: AsyncIterable<ModelEvent>) => AsyncIterable<ModelEvent>
}

/** Makes the tools of a request acceptable for every provider. If properties had to be renamed, earlier calls are sent with the new names too. */
export function withFittingTools(request: ModelRequest): FittingRequest {
  const { tools, renamed } = fittingTools(request.tools)
  if (renamed.size === 0) return { request: { ...request, tools }, back: (events) => events }
  const history = request.history.map((item) => sentItem(item, renamed))
  return { request: { ...request, tools, history }, back: (events) => withOwnNames(events, renamed) }
}

type Fitting = {
  readonly tools: readonly ToolDeclaration[]
  /** The schemas with renamed properties, by the names of their tools. */
  readonly renamed: ReadonlyMap<string, AcceptableSchema>
}

/** The same list gives the same list each time, because translations are cached by the identity of the list. */
const fitted = new WeakMap<readonly ToolDeclaration[], Fitting>()

function fittingTools(own: readonly ToolDeclaration[]): Fitting {
  const before = fitted.get(own)
  if (before !== undefined) return before
  const schemas = own.map((tool) => [tool, acceptableSchema(tool.parameters)] as const)
  const isSame = schemas.every(([tool, { schema }]) => schema === tool.parameters)
  const fitting: Fitting = {
    tools: isSame ? own : schemas.map(([tool, { schema }]) => ({ ...tool, parameters: schema })),
    renamed: new Map(schemas.flatMap(([{ name }, schema]) => (schema.isRenamed ? [[name, schema] as const] : []))),
  }
  fitted.set(own, fitting)
  return fitting
}

const sentItems = new WeakMap<HistoryItem, { readonly by: AcceptableSchema; readonly item: HistoryItem }>()

function sentItem(item: HistoryItem, renamed: Fitting['renamed']): HistoryItem {
  const schema = item.type === 'tool_call' ? renamed.get(item.call.name) : undefined
  if (schema === undefined || item.type !== 'tool_call') return item
  const before = sentItems.get(item)
  if (before?.by === schema) return before.item
  const sent = { ...item, call: renamedCall(item.call, (input) => schema.toSent(input)) }
  sentItems.set(item, { by: schema, item: sent })
  return sent
}

async function* withOwnNames(
  events: AsyncIterable<ModelEvent>,
  renamed: Fitting['renamed'],
): AsyncGenerator<ModelEvent> {
  for await (const event of events) {
    const schema = event.type === 'tool_call' ? renamed.get(event.call.name) : undefined
    yield schema === undefined || event.type !== 'tool_call'
      ? event
      : { ...event, call: renamedCall(event.call, (input) => schema.toOwn(input)) }
  }
}

function renamedCall(call: ToolCall, rename: (input: unknown) => unknown): ToolCall {
  try {
    return { ...call, input: JSON.stringify(rename(JSON.parse(call.input))) }
  } catch {
    // Arguments that are not JSON stay as they are: the model is told about them.
    return call
  }
}
