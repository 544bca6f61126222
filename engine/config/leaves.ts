/** One setting: its path, such as `['sandbox_workspace_write', 'network_access']`, and its value. */
export type Leaf = { readonly path: readonly string[]; readonly value: unknown }

/**
 * Splits a configuration into individual settings. Only the outer tables are split. A table inside them, such as one provider, counts as one setting,
 * so that it is never assembled from parts of two layers.
 */
export function leavesOf(settings: object): readonly Leaf[] {
  return open(settings, [])
}

/** Returns a setting's name as users write it, such as `sandbox_workspace_write.network_access`. */
export function keyOf(path: readonly string[]): string {
  return path.map((part) => (/^[\w-]+$/.test(part) ? part : JSON.stringify(part))).join('.')
}

/** Returns the path of the setting that contains the value at `path`. */
export function leafPath(path: readonly string[]): readonly string[] {
  return path.slice(0, depthOf(path))
}

/** Assembles a configuration from individual settings. */
export function fromLeaves(leaves: Iterable<Leaf>): object {
  const tree = new Map<string, Leaf[] | Leaf>()
  for (const leaf of leaves) {
    const [head = '', ...rest] = leaf.path
    if (rest.length === 0) tree.set(head, leaf)
    else {
      const inner = tree.get(head)
      const entry = { path: rest, value: leaf.value }
      tree.set(head, Array.isArray(inner) ? [...inner, entry] : [entry])
    }
  }
  return Object.fromEntries([...tree].map(([key, leaf]) => [key, Array.isArray(leaf) ? fromLeaves(leaf) : leaf.value]))
}

function open(table: object, path: readonly string[]): readonly Leaf[] {
  return Object.entries(table).flatMap(([key, value]: [string, unknown]): readonly Leaf[] => {
    const inner = [...path, key]
    if (value === undefined) return []
    return isTable(value) && inner.length < depthOf(inner) ? open(value, inner) : [{ path: inner, value }]
  })
}

/**
 * Returns the maximum number of keys in the path of a setting: two, or three for a variable in `shell_environment_policy.set`, so that each variable
 * is a separate setting.
 */
function depthOf(path: readonly string[]): number {
  return path[0] === 'shell_environment_policy' && path[1] === 'set' ? 3 : 2
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
