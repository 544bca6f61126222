import * as z from 'zod'
import type { Action, Approved } from '../../policies/index.ts'
import type { ToolDeclaration } from '../core/model.ts'
import type { CheckedCall, GuardedToolDefinition, Tool, ToolDefinition } from './tool.ts'

/**
 * Creates a tool from its definition: derives its declaration for the model, and validates the input of every call before it runs. Absent fields have safe
 * defaults: not read-only, never in parallel.
 *
 * @example
 * const now = defineTool({
 *   name: 'now',
 *   description: 'Tells the time in a time zone.',
 *   input: z.object({ timeZone: z.string() }),
 *   readOnly: () => true,
 *   run: async ({ timeZone }) => ({ ok: true, output: new Date().toLocaleString('en', { timeZone }) }),
 * })
 */
export function defineTool<Input extends z.ZodType, A extends Action>(definition: GuardedToolDefinition<Input, A>): Tool
export function defineTool<Input extends z.ZodType>(definition: ToolDefinition<Input>): Tool
export function defineTool<Input extends z.ZodType, A extends Action>(
  definition: ToolDefinition<Input> | GuardedToolDefinition<Input, A>,
): Tool {
  const { name, freeform } = definition
  let declaration: ToolDeclaration | undefined
  const tool: Tool = {
    name,
    description: definition.description,
    headless: definition.headless ?? true,
    enabled: definition.enabled ?? true,
    deferred: definition.deferred ?? false,
    alwaysLoad: definition.alwaysLoad ?? false,
    searchHint: definition.searchHint ?? '',
    claudeNames: definition.claudeNames ?? [],
    suggested: definition.suggested ?? true,
    sideBySide: definition.sideBySide ?? false,
    ownItems: definition.ownItems ?? false,
    guarded: definition.guarded ?? false,
    // The declaration is created only when it is needed, because deriving the schema is the most expensive part, and a hidden tool needs no
    // declaration.
    get declaration() {
      if (definition.declared === false) return undefined
      return (declaration ??= declare(definition, known.get(tool)))
    },
    parse(kind, text) {
      if (kind === 'freeform' && freeform !== undefined) return { json: freeform.fromText(text) }
      const parsed = parseJson(name, text)
      return 'json' in parsed ? { json: byOwnNames(parsed.json, definition.aliases) } : parsed
    },
    check: (json) => check(definition, json),
  }
  return tool
}

const known = new WeakMap<Tool, Record<string, unknown>>()

/**
 * Supplies tools with the input schemas that the build derived, because deriving them at run time is slow. A tool that `schemas` doesn't list
 * still derives its own. Returns the same list of tools.
 */
export function withSchemas(
  tools: readonly Tool[],
  schemas: Readonly<Record<string, Record<string, unknown>>>,
): readonly Tool[] {
  for (const tool of tools) {
    const schema = Object.hasOwn(schemas, tool.name) ? schemas[tool.name] : undefined
    if (schema !== undefined) known.set(tool, schema)
  }
  return tools
}

function declare<Input extends z.ZodType, A extends Action>(
  definition: ToolDefinition<Input> | GuardedToolDefinition<Input, A>,
  schema: Record<string, unknown> | undefined,
): ToolDeclaration {
  const { name, description, freeform } = definition
  const parameters = definition.parameters ?? schema ?? jsonSchema(definition.input)
  if (freeform === undefined) return { kind: 'function', name, description, parameters }
  const grammar = { syntax: 'lark', definition: freeform.grammar } as const
  return { kind: 'freeform', name, description, freeformDescription: freeform.description, grammar, parameters }
}

function jsonSchema(input: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' })
  return schema
}

function check<Input extends z.ZodType, A extends Action>(
  definition: ToolDefinition<Input> | GuardedToolDefinition<Input, A>,
  json: unknown,
): CheckedCall {
  const { name } = definition
  const result = definition.input.safeParse(json)
  if (!result.success) {
    return { valid: false, error: `${name}: the arguments are not valid.\n${z.prettifyError(result.error)}` }
  }
  const { data } = result
  return {
    valid: true,
    readOnly: (place) => definition.readOnly?.(data, place) ?? false,
    concurrencySafe: (place) => definition.concurrencySafe?.(data, place) ?? false,
    seenAs: (context) => definition.seenAs?.(data, context),
    validate: async (context) => definition.validate?.(data, context),
    action: (place) => definition.action?.(data, place),
    refusal: (place) => definition.refusal?.(data, place),
    run: async (context, approved) => {
      if (definition.action === undefined) return definition.run(data, context)
      if (approved === undefined) throw new TypeError(`${name}: the call was not approved`)
      // The cast is safe because the Guardian returns the same action that this definition made.
      return definition.run(data, { ...context, approved: approved as unknown as Approved<A> })
    },
  }
}

/** Renames aliases to the tool's own field names, so that a check that reads only one field can't miss a value given under an alias. */
function byOwnNames(json: unknown, aliases: Readonly<Record<string, string>> = {}): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json
  const fields: Record<string, unknown> = { ...json }
  for (const [alias, field] of Object.entries(aliases)) {
    if (!Object.hasOwn(fields, alias)) continue
    const { [alias]: value } = fields
    delete fields[alias]
    if (!Object.hasOwn(fields, field)) fields[field] = value
  }
  return fields
}

function parseJson(name: string, text: string): { readonly json: unknown } | { readonly error: string } {
  try {
    return { json: text.trim() === '' ? {} : JSON.parse(text) }
  } catch (error) {
    return { error: `${name}: the arguments are not JSON (${(error as Error).message}). Send one JSON object.` }
  }
}
