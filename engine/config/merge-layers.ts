import { isNetworkKey } from './bounds.ts'
import type { Leaf } from './leaves.ts'
import { fromLeaves, keyOf, leavesOf } from './leaves.ts'
import type { Settings } from './settings-schema.ts'
import type { Place } from './validate.ts'

/** One source of settings. A later layer wins over an earlier one. */
export type Layer = Place & {
  readonly kind: 'managed' | 'imported' | 'user' | 'project' | 'profile' | '-c' | 'flag'
  readonly settings: Settings
  /** Where the layer's settings begin in its text, e.g. `['profiles', 'ci']`. Absent: at its top. */
  readonly within?: readonly string[]
  /** Tables that the layer replaces as a whole, so that nothing from lower layers remains. Absent: none. */
  readonly replaces?: readonly (readonly string[])[]
}

/** A setting in force, and the layer that set it. */
export type Origin = Leaf & { readonly layer: Layer }

/** Lays layers over each other. */
export function merge(layers: readonly Layer[]): ReadonlyMap<string, Origin> {
  const merged = new Map<string, Origin>()
  for (const layer of layers) {
    const leaves = leavesOf(layer.settings)
    for (const table of layer.replaces ?? []) {
      for (const [key, { path, layer: below }] of merged) {
        // What the machine's owner fixed stays, however little higher layers set.
        if (below.kind !== 'managed' && table.every((part, index) => path[index] === part)) merged.delete(key)
      }
    }
    // The network is one setting in two keys: a layer that sets one also resets the other.
    if (leaves.some(({ path }) => isNetworkKey(keyOf(path)))) {
      for (const key of merged.keys()) if (isNetworkKey(key)) merged.delete(key)
    }
    for (const leaf of leaves) merged.set(keyOf(leaf.path), { ...leaf, layer })
  }
  return merged
}

/** Merged layers as settings. Each layer was valid, and no setting is put together from two, so the whole is valid. */
export function settingsOf(merged: ReadonlyMap<string, Origin>): Settings {
  return fromLeaves(merged.values()) as Settings
}
