import type { ToolCall, ToolDeclaration } from '../core/model.ts'

/**
 * A call's arguments as an object, for APIs that accept nothing else in a history. A freeform call, made by another provider's model,
 * becomes the one text field of the tool's schema; arguments that are not an object are kept as text.
 */
export function argumentsObject(call: ToolCall, tools: readonly ToolDeclaration[]): Record<string, unknown> {
  if (call.kind === 'freeform') return { [textField(call.name, tools)]: call.input }
  try {
    const value: unknown = JSON.parse(call.input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The model's mistake is part of the conversation, and its correction makes no sense without it.
  }
  return { malformed_arguments: call.input }
}

/** Whether arguments are all there, as far as one can see. Those of a call that was cut off before any came are not. */
export function isWholeObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0
  } catch {
    // A piece of it: that is the answer.
    return false
  }
}

function textField(name: string, tools: readonly ToolDeclaration[]): string {
  const properties = tools.find((tool) => tool.name === name)?.parameters['properties']
  const [first] = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return first ?? 'input'
}
