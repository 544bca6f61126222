import { UserError } from '../core/user-error.ts'
import { fromLeaves, keyOf, leafPath, leavesOf } from './leaves.ts'
import type { Layer } from './merge-layers.ts'
import { ConfigFile } from './settings-schema.ts'
import { parseTomlValue, tryParseToml } from './toml.ts'
import { validate } from './validate.ts'

/**
 * Parses `-c key=value` texts; later ones win. Keys may be dotted. Values are TOML. A value that isn't valid TOML counts as a string, so that
 * `-c model=gpt-5.5` needs no inner quotes.
 *
 * @param below the settings without the overrides; needed if an override changes only a part of a setting that is a table
 * @throws UserError `usage` if a text doesn't have the form `key=value`, a key is unknown, or a value is invalid
 */
export function overrideLayer(below: object, overrides: readonly string[]): Layer {
  const parsed = overrides.map(parseOverride)
  let whole = below
  for (const { path, value } of parsed) whole = set(whole, path, value)
  const touched = parsed.map(({ path }) => leafPath(path))
  const isTouched = (leaf: readonly string[]): boolean =>
    touched.some((path) => path.every((part, index) => leaf[index] === part))
  const own = fromLeaves(leavesOf(whole).filter(({ path }) => isTouched(path)))
  return { kind: '-c', name: '-c', settings: validate(ConfigFile, own, { name: '-c' }), replaces: touched }
}

/**
 * Parses `-c key=value` texts into one table; later ones win.
 *
 * @throws UserError `usage` if a text doesn't have the form `key=value`
 */
export function parseOverrides(overrides: readonly string[]): Readonly<Record<string, unknown>> {
  let whole = {}
  for (const { path, value } of overrides.map(parseOverride)) whole = set(whole, path, value)
  return whole
}

/** No setting is as deep as that. Deeper tables could exhaust the stack. */
const mostParts = 32

function parseOverride(override: string): { readonly path: readonly string[]; readonly value: unknown } {
  // A part of the key may be in quotes, in which dots and equals signs stand for themselves.
  const key = /^((?:"[^"]*"|'[^']*'|[^"'=])*)=/.exec(override)
  const path = key === null ? [] : partsOf(key[1] ?? '')
  if (key === null || path.length === 0) {
    throw new UserError('usage', `-c '${override}': expected key=value, e.g. -c sandbox_mode="read-only"`)
  }
  if (path.length > mostParts) {
    const begin = keyOf(path.slice(0, mostParts))
    throw new UserError('usage', `-c: unknown key '${begin}…': a key has at most ${mostParts} parts`)
  }
  const text = override.slice(key[0].length).trim()
  return { path, value: parseTomlValue(text) ?? text }
}

/** The parts of a dotted key; empty if one of them is missing. */
function partsOf(key: string): readonly string[] {
  if (!/["']/.test(key)) {
    const parts = key.trim().split('.')
    return parts.includes('') ? [] : parts
  }
  const parts: string[] = []
  for (let found = tryParseToml(`${key} = 0`); found !== undefined;) {
    const [part] = Object.keys(found)
    if (part === undefined) return []
    parts.push(part)
    const below = found[part]
    found = typeof below === 'object' && below !== null ? (below as Record<string, unknown>) : undefined
  }
  return parts
}

function set(target: unknown, path: readonly string[], value: unknown): object {
  const [key, ...rest] = path
  const base = typeof target === 'object' && target !== null ? target : {}
  if (key === undefined) return base
  const inner: unknown = Object.hasOwn(base, key) ? (base as Record<string, unknown>)[key] : undefined
  // Built with `fromEntries`, so that a key such as `__proto__` is treated like any other unknown key and fails validation.
  return Object.fromEntries([
    ...Object.entries(base).filter(([name]) => name !== key),
    [key, rest.length === 0 ? value : set(inner, rest, value)],
  ])
}
