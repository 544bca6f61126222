import type { ToolCall, ToolDeclaration } from '../core/model.ts'

/**
 * Returns a call's arguments as an object, for APIs that accept nothing else in a history. The input of a freeform call, made by another
 * provider's model, becomes the value of the tool's only text field. Arguments that are not an object are kept as text.
 */
export function argumentsObject(call: ToolCall, tools: readonly ToolDeclaration[]): Record<string, unknown> {
  if (call.kind === 'freeform') return { [textField(call.name, tools)]: call.input }
  try {
    const value: unknown = JSON.parse(call.input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The model's mistake stays in the conversation, because the correction would make no sense without it.
  }
  return { malformed_arguments: call.input }
}

/** Whether arguments look complete. Empty arguments don't: the call was cut off before any arrived. */
export function isWholeObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0
  } catch {
    // The parse error answers the question: the JSON is incomplete.
    return false
  }
}

function textField(name: string, tools: readonly ToolDeclaration[]): string {
  const properties = tools.find((tool) => tool.name === name)?.parameters['properties']
  const [first] = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return first ?? 'input'
}
