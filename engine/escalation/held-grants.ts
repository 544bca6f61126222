import { basename, dirname } from 'node:path'
import type { Grant } from '../../policies/index.ts'
import {
  holdPlace,
  isThere,
  SandboxError,
  sourcePath,
  type Backend,
  type HeldPlace,
  type View,
} from '../../sandbox/index.ts'

/** A grant, and the place to which its path led when the reviewer was asked. */
export type HeldGrant = {
  readonly grant: Grant
  /** Where this program finds the grant's path: in the view that commands see there, if there is one. Empty if the grant isn't for a path. */
  readonly at: string
  /**
   * The place of a grant's path; for a file that is to be created, the place of its folder. Undefined if the grant isn't for a path, or if the path
   * doesn't exist or can't be reached without following a symlink.
   */
  readonly place: HeldPlace | undefined
  /** The name of a file that is to be created. */
  readonly makes?: string
}

/**
 * Holds open what a grant's path leads to now, before anybody is asked about it. If nothing exists there yet and the grant is for writing, holds open
 * the folder in which to create the file.
 *
 * @param views the private views that commands see in place of what is at their paths
 */
export function holdGrant(grant: Grant, views: readonly View[]): HeldGrant {
  if (grant.kind !== 'read' && grant.kind !== 'write') return { grant, at: '', place: undefined }
  const at = sourcePath(grant.path, views)
  const place = holdPlace(at)
  if (place !== undefined || grant.kind === 'read') return { grant, at, place }
  return { grant, at, place: holdPlace(dirname(at)), makes: basename(at) }
}

/**
 * Returns the path of a grant if no place could be held for it, if it no longer leads to the held place, or if the file to be created now exists;
 * otherwise undefined.
 */
export function lostPath({ grant, at, place, makes }: HeldGrant): string | undefined {
  if (grant.kind !== 'read' && grant.kind !== 'write') return undefined
  if (place === undefined || !isThere(place)) return grant.path
  // When the grant was approved, nothing existed at its path, so nobody approved what exists there now.
  return makes !== undefined && holdsSomething(at) ? grant.path : undefined
}

/** Throws `path-changed` if the path of a grant no longer leads to the place that was held, or if a file that was to be created now exists. */
export function requireHeld(held: HeldGrant, backend: Backend): void {
  const path = lostPath(held)
  if (path !== undefined) throw new SandboxError('path-changed', { backend, path, approved: true })
}

function holdsSomething(path: string): boolean {
  const place = holdPlace(path)
  place?.close()
  return place !== undefined
}
