import { UserError } from '../user-error.ts'
import { parseTomlValue } from './toml.ts'

/**
 * Puts `-c key=value` texts on top of a configuration, without validating the outcome. Keys may be dotted; a value is
 * TOML, and text that isn't TOML counts as a string, so that `-c model=gpt-5.5` needs no inner quotes.
 *
 * @throws UserError `usage` for a text without `=` or with an empty key
 */
export function applyOverrides(config: object, overrides: readonly string[]): object {
  let result: object = config
  for (const override of overrides) {
    const equals = override.indexOf('=')
    const path = override.slice(0, equals).trim().split('.')
    if (equals === -1 || path.some((part) => part === '')) {
      throw new UserError('usage', `-c '${override}': expected key=value, e.g. -c sandbox_mode="read-only"`)
    }
    const text = override.slice(equals + 1).trim()
    result = set(result, path, parseTomlValue(text) ?? text)
  }
  return result
}

function set(target: unknown, path: readonly string[], value: unknown): object {
  const [key, ...rest] = path
  const base = typeof target === 'object' && target !== null ? target : {}
  if (key === undefined) return base
  const inner: unknown = Object.hasOwn(base, key) ? (base as Record<string, unknown>)[key] : undefined
  // Built from entries, so that a key such as `__proto__` is a key like any other, and fails validation as one.
  return Object.fromEntries([
    ...Object.entries(base).filter(([name]) => name !== key),
    [key, rest.length === 0 ? value : set(inner, rest, value)],
  ])
}
