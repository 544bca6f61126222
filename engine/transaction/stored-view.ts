import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Overlays, View } from '../../sandbox/index.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { overlaysOf, overlayStorage, type OverlayStorage } from './overlay/storage.ts'
import { readManifest, type Manifest } from './view-manifest.ts'
import { readViewState, type ViewState } from './view-state.ts'

/** A session's private view of its trees. */
export type PrivateView = {
  /** The session's own directory, which must stay locked while the view is in use. */
  readonly directory: LockedFolder
  readonly state: ViewState
  readonly views: readonly View[]
  /** The manifest of each tree, in order. Empty for overlays, which are mounted over their trees. */
  readonly manifests: () => readonly Manifest[]
  /** The storage of each tree's overlay, in order. Empty for copies. */
  readonly overlays: readonly OverlayStorage[]
}

/** The folder that contains the view of a session. */
export const viewFolder = (directory: string): string => join(directory, 'view')

/** The state of a session's view if a run can continue in it; undefined otherwise. */
export function openViewState(directory: string): ViewState | undefined {
  const known = readViewState(directory)
  return known?.state === 'open' && existsSync(viewFolder(directory)) ? known : undefined
}

/** Reopens the view of a session. Returns undefined if no run can continue in it. */
export function reopenView(directory: LockedFolder): PrivateView | undefined {
  const known = openViewState(directory)
  return known && asView(directory, known)
}

/** The view of a session, whether or not runs can continue in it; undefined if it was removed, or if no run has worked in it. */
export function storedView(directory: LockedFolder): PrivateView | undefined {
  const known = readViewState(directory)
  const isStored = known !== undefined && known.state !== 'making' && existsSync(viewFolder(directory))
  return isStored ? asView(directory, known) : undefined
}

/** Describes the view of a session with this state. */
export function asView(directory: LockedFolder, known: ViewState): PrivateView {
  const isOverlay = known.strategy === 'overlay'
  return {
    directory,
    state: known,
    views: isOverlay ? known.roots.map((root) => ({ ...root, overlay: true })) : known.roots,
    manifests: () => (isOverlay ? [] : known.roots.map((_, index) => readManifest(manifestFile(directory, index)))),
    overlays: isOverlay ? known.roots.map((_, index) => overlayStorage(viewFolder(directory), index)) : [],
  }
}

/** What to mount for the view of a session; undefined if the view has no overlays. */
export function overlaysOfView(directory: string, { strategy, roots }: ViewState): Overlays | undefined {
  return strategy === 'overlay' ? overlaysOf(directory, viewFolder(directory), roots.length) : undefined
}

/** The path of the manifest of a copied tree. */
export function manifestFile(directory: string, index: number): string {
  return join(viewFolder(directory), `made-from-${index}.jsonl`)
}
