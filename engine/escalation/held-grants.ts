import { basename, dirname } from 'node:path'
import type { Grant } from '../../policies/index.ts'
import { holdPlace, isThere, SandboxError, type Backend, type HeldPlace } from '../../sandbox/index.ts'

/** A grant, and the place to which its path led when the reviewer was asked. */
export type HeldGrant = {
  readonly grant: Grant
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
 */
export function holdGrant(grant: Grant): HeldGrant {
  if (grant.kind !== 'read' && grant.kind !== 'write') return { grant, place: undefined }
  const place = holdPlace(grant.path)
  if (place !== undefined || grant.kind === 'read') return { grant, place }
  return { grant, place: holdPlace(dirname(grant.path)), makes: basename(grant.path) }
}

/**
 * Returns the path of a grant if no place could be held for it, if it no longer leads to the held place, or if the file to be created now exists;
 * otherwise undefined.
 */
export function lostPath({ grant, place, makes }: HeldGrant): string | undefined {
  if (grant.kind !== 'read' && grant.kind !== 'write') return undefined
  if (place === undefined || !isThere(place)) return grant.path
  // When the grant was approved, nothing existed at its path, so nobody approved what exists there now.
  return makes !== undefined && holdsSomething(grant.path) ? grant.path : undefined
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
