import { basename, dirname, isAbsolute } from 'node:path'
import type { PermissionFile } from '../../policies/index.ts'
import type { Layer } from './merge-layers.ts'

/**
 * Takes the permission lists out of layers before these are laid over each other: a list replaced by a later one would be
 * a deny that quietly vanished.
 */
export class PermissionLayers {
  readonly #workspace: string
  readonly #taken: PermissionFile[] = []

  /** @param workspace what `/path` in a list is relative to where a layer is no file */
  constructor(workspace: string) {
    this.#workspace = workspace
  }

  /** The lists so far, in the order of their layers. */
  get taken(): readonly PermissionFile[] {
    return this.#taken
  }

  /** A layer without its lists. */
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

/** The folder that a configuration file is about: the one that holds it, or a repository's own. */
function folderOf(path: string): string {
  const folder = dirname(path)
  return basename(folder) === '.portcullis' ? dirname(folder) : folder
}
