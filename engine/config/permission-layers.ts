import { basename, dirname, isAbsolute } from 'node:path'
import type { PermissionFile } from '../../policies/index.ts'
import type { Layer } from './merge-layers.ts'

/**
 * Takes the permission lists out of layers before the layers are merged. Otherwise a later list would replace an earlier one, and the earlier
 * denials would silently vanish.
 */
export class PermissionLayers {
  readonly #workspace: string
  readonly #taken: PermissionFile[] = []

  /** @param workspace the folder to which `/path` is relative in a list that comes from the command line instead of a file */
  constructor(workspace: string) {
    this.#workspace = workspace
  }

  /** The permission lists taken from layers so far, in the order in which the layers were passed to `take`. */
  get taken(): readonly PermissionFile[] {
    return this.#taken
  }

  /** Collects a layer's permission lists and returns the layer without them. */
  take(layer: Layer): Layer {
    const { permissions: lists, ...settings } = layer.settings
    if (lists === undefined) return layer
    const kind = layer.kind === 'managed' || layer.kind === 'project' ? layer.kind : 'user'
    this.#taken.push({
      path: layer.name,
      layer: kind,
      lists,
      folder: isAbsolute(layer.name) ? folderOf(layer.name) : this.#workspace,
      ...(layer.text === undefined ? {} : { text: layer.text }),
    })
    return { ...layer, settings }
  }
}

/**
 * Returns the folder that a configuration file applies to. This is the file's own folder or, for a repository's file, the folder that contains
 * `.portcullis`.
 */
function folderOf(path: string): string {
  const folder = dirname(path)
  return basename(folder) === '.portcullis' ? dirname(folder) : folder
}
