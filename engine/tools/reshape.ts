import type { ToolDeclaration } from '../core/model.ts'
import type { Tool } from './tool.ts'

/** How a run shows a tool, where that differs from how the tool shows itself. What a call does is the same. */
export type ToolShape = {
  /** Its name in requests only. Default: the tool's own. */
  readonly deferred?: boolean
  /** True: understood when called, and neither declared nor found by searching. Default: false. */
  readonly hidden?: boolean
  /** Fields of the input that are not declared. Default: none. */
  readonly without?: readonly string[]
  /** Names under which fields are declared; the tool has them among its aliases. Default: none. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Other words for the tool, and for fields of its input by their own names. Default: its own. */
  readonly described?: { readonly tool: string; readonly fields: Readonly<Record<string, string>> }
  /** Values of fields that a call leaves out; hooks see the original call. Default: the tool's own. */
  readonly filled?: Readonly<Record<string, unknown>>
  /** Whether the model may be told between turns that the tool may help. Default: the tool's own. */
  readonly suggested?: boolean
}

/** The same tool, shown differently. */
export function reshape(tool: Tool, shape: ToolShape): Tool {
  // Without its declaration, which is derived when it is asked for.
  const { name, headless, enabled, alwaysLoad, searchHint, claudeNames, ownItems, guarded } = tool
  const { sideBySide, parse } = tool
  const { hidden = false, deferred = tool.deferred, suggested = tool.suggested, filled } = shape
  const check: Tool['check'] = filled === undefined ? tool.check : (json) => tool.check(withDefaults(json, filled))
  const description = shape.described?.tool ?? tool.description
  let declaration: ToolDeclaration | undefined
  return {
    ...{ name, description, headless, enabled, alwaysLoad, searchHint, claudeNames, ownItems, guarded, suggested },
    ...{ sideBySide, parse, check },
    deferred: deferred && !hidden,
    get declaration() {
      if (hidden || tool.declaration === undefined) return undefined
      return (declaration ??= redeclare(tool.declaration, shape))
    },
  }
}

function withDefaults(json: unknown, filled: Readonly<Record<string, unknown>>): unknown {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? { ...filled, ...json } : json
}

function redeclare(declaration: ToolDeclaration, shape: ToolShape): ToolDeclaration {
  const { without = [], renamed = {}, described } = shape
  if (without.length === 0 && Object.keys(renamed).length === 0 && described === undefined) return declaration
  const { properties, required } = declaration.parameters
  const nameOf = (field: string): string => renamed[field] ?? field
  const fields = Object.entries(typeof properties === 'object' && properties !== null ? properties : {})
  const words = (field: string, schema: unknown): unknown => {
    const description = described?.fields[field]
    return description === undefined || typeof schema !== 'object' ? schema : { ...schema, description }
  }
  const shown = fields
    .filter(([field]) => !without.includes(field))
    .map(([field, schema]) => [nameOf(field), words(field, schema)])
  return {
    ...declaration,
    ...(described === undefined ? {} : { description: described.tool }),
    parameters: {
      ...declaration.parameters,
      properties: Object.fromEntries(shown),
      ...(Array.isArray(required) ? { required: required.map((field) => nameOf(String(field))) } : {}),
    },
  }
}
