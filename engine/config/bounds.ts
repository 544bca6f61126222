import { isDeepStrictEqual } from 'node:util'
import type { Leaf } from './leaves.ts'
import { keyOf, leavesOf } from './leaves.ts'
import type { Settings } from './settings-schema.ts'
import { rowOf } from './settings/index.ts'
import { networkKeys } from './settings/network-keys.ts'

/** A setting that exceeds a bound, and the setting that sets this bound. */
type Excess = { readonly path: readonly string[]; readonly limit: readonly string[] }

/**
 * Finds the settings that exceed what another layer has fixed. A key may have any value if the bound neither mentions it nor fixes it through another
 * key. Otherwise, it must have the same value or, if its values have an order of strictness, a stricter one.
 *
 * @param preferences whether the bound also fixes preferences, such as the model, which don't affect safety
 */
export function excessOver(bound: Settings, asked: Settings, preferences: boolean): readonly Excess[] {
  const limits = new Map(leavesOf(bound).map((leaf) => [keyOf(leaf.path), leaf]))
  return leavesOf(asked).flatMap((leaf) => {
    if (!preferences && rowOf(leaf.path[0] ?? '')?.isPreference === true) return []
    const limit = limitFor(leaf, limits)
    if (limit === undefined || isWithin(leaf, asked, limit, bound)) return []
    return [{ path: leaf.path, limit: limit.path }]
  })
}

/** Whether a key is one of the two that decide the network access of commands. A layer that sets one of them replaces both. */
export function isNetworkKey(key: string): boolean {
  return networkKeys.has(key)
}

function limitFor(leaf: Leaf, limits: ReadonlyMap<string, Leaf>): Leaf | undefined {
  const key = keyOf(leaf.path)
  const own = limits.get(key)
  if (own !== undefined) return own
  const { isFixedBy } = rowOf(leaf.path[0] ?? '') ?? {}
  return isFixedBy && [...limits].find(([limit]) => isFixedBy(key, limit))?.[1]
}

function isWithin({ path, value }: Leaf, asked: Settings, limit: Leaf, bound: Settings): boolean {
  const [name = '', key = ''] = path
  const within = rowOf(name)?.within as
    ((asked: unknown, bound: unknown, key: string) => boolean | undefined) | undefined
  const of = (settings: Settings): unknown => settings[name as keyof Settings]
  return within?.(of(asked), of(bound), key) ?? isDeepStrictEqual(value, limit.value)
}
