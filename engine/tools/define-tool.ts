import * as z from 'zod'
import type { PreparedCall, Tool, ToolDefinition } from './tool.ts'

/** Makes a tool from its definition: derives what the model is told, and checks every call's input before it runs. */
export function defineTool<Input extends z.ZodType>(definition: ToolDefinition<Input>): Tool {
  const { name, freeform } = definition
  return {
    name,
    declaration: definition.declared === false ? undefined : declare(definition),
    prepare(kind, text) {
      const value = kind === 'freeform' && freeform !== undefined ? { json: freeform.fromText(text) } : parseJson(text)
      if ('error' in value) return { valid: false, error: `${name}: ${value.error}` }
      return check(definition, value.json)
    },
  }
}

function declare<Input extends z.ZodType>({
  name,
  description,
  input,
  freeform,
}: ToolDefinition<Input>): Tool['declaration'] {
  if (freeform !== undefined) {
    const grammar = { syntax: 'lark', definition: freeform.grammar } as const
    return { kind: 'freeform', name, description: freeform.description, grammar, parameters: jsonSchema(input) }
  }
  return { kind: 'function', name, description, parameters: jsonSchema(input) }
}

function jsonSchema(input: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' })
  return schema
}

function check<Input extends z.ZodType>(definition: ToolDefinition<Input>, json: unknown): PreparedCall {
  const result = definition.input.safeParse(json)
  if (result.success) return { valid: true, run: (context) => definition.run(result.data, context) }
  return { valid: false, error: `${definition.name}: the arguments do not fit.\n${z.prettifyError(result.error)}` }
}

function parseJson(text: string): { readonly json: unknown } | { readonly error: string } {
  try {
    return { json: text.trim() === '' ? {} : JSON.parse(text) }
  } catch (error) {
    return { error: `the arguments are not JSON (${(error as Error).message}). Send one JSON object.` }
  }
}
