import type { ToolCall, ToolDeclaration } from '../core/model.ts'

/**
 * Returns a call's arguments as an object, for APIs that accept only objects in a conversation. The input of a freeform call, which another provider's model
 * made, becomes the value of the tool's only text field. Arguments that are not a JSON object become the text of a field `malformed_arguments`.
 */
export function argumentsObject(call: ToolCall, tools: readonly ToolDeclaration[]): Record<string, unknown> {
  if (call.kind === 'freeform') return { [textField(call.name, tools)]: call.input }
  try {
    const value: unknown = JSON.parse(call.input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The invalid text stays in the conversation, because the model's later correction would make no sense without it.
  }
  return { malformed_arguments: call.input }
}

/** Whether arguments look complete. An empty object counts as incomplete, because the call may have been cut off before any argument arrived. */
export function isWholeObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0
  } catch {
    // A parse error means that the JSON is incomplete.
    return false
  }
}

function textField(name: string, tools: readonly ToolDeclaration[]): string {
  const properties = tools.find((tool) => tool.name === name)?.parameters['properties']
  const [first] = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return first ?? 'input'
}
