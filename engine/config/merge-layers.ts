import { isNetworkKey } from './bounds.ts'
import type { Leaf } from './leaves.ts'
import { fromLeaves, keyOf, leavesOf } from './leaves.ts'
import type { Settings } from './settings-schema.ts'
import type { Place } from './validate.ts'

/** One source of settings. Later layers override earlier ones. */
export type Layer = Place & {
  readonly kind: 'managed' | 'imported' | 'user' | 'project' | 'profile' | '-c' | 'flag'
  readonly settings: Settings
  /** The path of the table in `text` that contains the layer's settings, such as `['profiles', 'ci']`. Absent: the settings are at the top level. */
  readonly within?: readonly string[]
  /** Tables that the layer replaces completely, so that no values of lower layers remain in them. Absent: none. */
  readonly replaces?: readonly (readonly string[])[]
}

/** A setting in effect, and the layer that set it. */
export type Origin = Leaf & { readonly layer: Layer }

/** Merges layers. Each setting comes from the last layer that sets it. */
export function merge(layers: readonly Layer[]): ReadonlyMap<string, Origin> {
  const merged = new Map<string, Origin>()
  for (const layer of layers) {
    const leaves = leavesOf(layer.settings)
    for (const table of layer.replaces ?? []) {
      for (const [key, { path, layer: below }] of merged) {
        // Settings that the machine's owner fixed are kept, even if a higher layer replaces the table.
        if (below.kind !== 'managed' && table.every((part, index) => path[index] === part)) merged.delete(key)
      }
    }
    // The network settings consist of two keys, so a layer that sets one of them resets the other.
    if (leaves.some(({ path }) => isNetworkKey(keyOf(path)))) {
      for (const key of merged.keys()) if (isNetworkKey(key)) merged.delete(key)
    }
    for (const leaf of leaves) merged.set(keyOf(leaf.path), { ...leaf, layer })
  }
  return merged
}

/** Turns merged layers into settings. The result is valid, because each layer is valid and no setting is assembled from two layers. */
export function settingsOf(merged: ReadonlyMap<string, Origin>): Settings {
  return fromLeaves(merged.values()) as Settings
}
