import { isTable } from '../../core/is-table.ts'
import { UserError } from '../../core/user-error.ts'
import type { Ignored } from '../ignored.ts'
import { keyOf } from '../leaves.ts'
import { parseOverrides } from '../overrides.ts'
import type { CodexDoor } from './codex-config.ts'
import { describeMeaningless } from './codex-unknown.ts'
import { withoutUnknown } from './sound-settings.ts'
import { translateCodex } from './translate-codex.ts'

/**
 * Says Codex's `-c key=value` in the words of this program.
 *
 * @param around what surrounds them. `strict`: whether an unknown key is an error
 * @returns the overrides, the keys that mean nothing here, and the key that says what commands may access, if one does
 * @throws UserError `usage` for what isn't `key=value`, for unknown keys as `describeMeaningless` does, and for a permission profile that can't be
 *   said in the words of this program
 */
export function translateOverrides(
  given: readonly string[],
  around: Parameters<typeof translateCodex>[1] & { readonly strict: boolean },
): {
  readonly overrides: readonly string[]
  readonly ignored: readonly Ignored[]
  readonly modeKey?: CodexDoor['modeKey']
} {
  const parsed = parseOverrides(given)
  const { table, refused } = translateCodex(parsed, around)
  for (const { path, why } of refused) throw new UserError('usage', `-c: key '${keyOf(path)}': ${why}.`)
  const known = withoutUnknown(table)
  return {
    overrides: assignments(known.table, []),
    ignored: describeMeaningless({ name: '-c' }, known.unknown, around.strict),
    modeKey: (['sandbox_mode', 'default_permissions'] as const).find((key) => parsed[key] !== undefined),
  }
}

/** Writes a table as one `key=value` for each of its values. Lists and scalars are written as JSON, which TOML reads in the same way. */
function assignments(table: Readonly<Record<string, unknown>>, path: readonly string[]): readonly string[] {
  return Object.entries(table).flatMap(([key, value]) => {
    const at = [...path, key]
    return isTable(value) ? assignments(value, at) : [`${keyOf(at)}=${inToml(value)}`]
  })
}

function inToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inToml).join(',')}]`
  // TOML, unlike JSON, has no DEL in a string.
  if (!isTable(value)) return JSON.stringify(value).replaceAll('\x7f', '\\u007f')
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}=${inToml(inner)}`)
    .join(',')}}`
}
