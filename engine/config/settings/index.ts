import * as z from 'zod'
import { decisionSettings } from './decision-settings.ts'
import { modelSettings } from './model-settings.ts'
import type { AnyRow } from './setting-row.ts'
import { sandboxSettings } from './sandbox-settings.ts'
import { toolSettings } from './tool-settings.ts'

/**
 * The table of settings. If Codex has an equivalent setting, ours has the same key, so that nobody has to learn a second name. A row defines its setting
 * completely: to add a setting, add a row to one of these tables and use the setting in one place.
 */
export const settingsTable = { ...modelSettings, ...decisionSettings, ...sandboxSettings, ...toolSettings }

type Table = typeof settingsTable

/** Returns the row of a setting; undefined if no setting has this name. */
export function rowOf(name: string): AnyRow | undefined {
  return Object.hasOwn(settingsTable, name) ? settingsTable[name as keyof Table] : undefined
}

/** The schema of a configuration file, as the shape of a zod object. */
export const settingsShape = Object.fromEntries(
  Object.entries(settingsTable).map(([name, { schema, about }]) => [
    name,
    (schema as z.ZodType).optional().meta({ description: about }),
  ]),
) as { readonly [Name in keyof Table]: z.ZodOptional<Table[Name]['schema']> }

/** Returns the defaults that the table gives as values. */
export function defaultSettings(): Readonly<Record<string, unknown>> {
  const rows = Object.entries<AnyRow>(settingsTable)
  return Object.fromEntries(rows.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])))
}

/** The names of the settings that a repository can't set. */
export const userOnly: readonly string[] = Object.entries<AnyRow>(settingsTable).flatMap(([name, { saidBy }]) =>
  saidBy === 'user' ? [name] : [],
)

/** The keys of tables that a repository can't set, though it can set others of the same table. */
export const userOnlyKeys: readonly (readonly [table: string, key: string])[] = Object.entries<AnyRow>(
  settingsTable,
).flatMap(([name, { keys = {} }]) =>
  Object.entries(keys).flatMap(([key, { saidBy }]) => (saidBy === 'user' ? [[name, key] as const] : [])),
)
