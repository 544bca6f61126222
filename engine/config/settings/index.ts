import * as z from 'zod'
import { decisionSettings } from './decision-settings.ts'
import { modelSettings } from './model-settings.ts'
import type { AnyRow } from './setting-row.ts'
import { sandboxSettings } from './sandbox-settings.ts'
import { toolSettings } from './tool-settings.ts'

/**
 * The table of settings. Keys have Codex's names where Codex has the concept, so that nobody has to learn them twice. A setting is defined
 * completely by its row: to add one, add a row here, and use it in one place.
 */
export const settingsTable = { ...modelSettings, ...decisionSettings, ...sandboxSettings, ...toolSettings }

type Table = typeof settingsTable

/** The row of a setting; undefined where there is no such setting. */
export function rowOf(name: string): AnyRow | undefined {
  return Object.hasOwn(settingsTable, name) ? settingsTable[name as keyof Table] : undefined
}

/** What a configuration file may say, as zod's shape of an object. */
export const settingsShape = Object.fromEntries(
  Object.entries(settingsTable).map(([name, { schema, about }]) => [
    name,
    (schema as z.ZodType).optional().meta({ description: about }),
  ]),
) as { readonly [Name in keyof Table]: z.ZodOptional<Table[Name]['schema']> }

/** The defaults of settings that have a single default value. */
export function defaultSettings(): Readonly<Record<string, unknown>> {
  const rows = Object.entries<AnyRow>(settingsTable)
  return Object.fromEntries(rows.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])))
}

/** The settings in this table that only the user's own file may set. */
export const userOnly: readonly string[] = Object.entries<AnyRow>(settingsTable).flatMap(([name, { saidBy }]) =>
  saidBy === 'user' ? [name] : [],
)
