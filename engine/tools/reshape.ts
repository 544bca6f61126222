import type { ToolDeclaration } from '../core/model.ts'
import type { Tool } from './tool.ts'

/** How a run presents a tool, as far as this differs from the tool's own declaration. The tool's code is not affected. */
export type ToolShape = {
  /** Whether requests contain only the tool's name. Default: as the tool declares it. */
  readonly deferred?: boolean
  /** If true, the tool can be called but is neither declared nor found by searching. Default: false. */
  readonly hidden?: boolean
  /** Fields of the input to leave out of the declaration. Default: none. */
  readonly without?: readonly string[]
  /** Other names for declared fields. The tool must accept them as aliases. Default: none. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Other descriptions for the tool and for its fields, by the fields' own names. Default: the tool's own. */
  readonly described?: { readonly tool: string; readonly fields: Readonly<Record<string, string>> }
  /** Values for fields that a call leaves out. Hooks see the original call. Default: the tool's own defaults. */
  readonly filled?: Readonly<Record<string, unknown>>
  /** Whether the tool may be suggested to the model between turns. Default: as the tool declares it. */
  readonly suggested?: boolean
}

/** Returns the same tool, presented as `shape` describes. */
export function reshape(tool: Tool, shape: ToolShape): Tool {
  // `declaration` is not read here, because reading it would derive the schema, which may never be needed.
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
