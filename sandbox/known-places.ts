import type { Place } from './held-place.ts'

/**
 * The entries that were at the paths of a policy when the user gave these paths. A sandbox that is opened later needs them, because commands may have
 * moved the files by then.
 */
export type KnownPlaces = {
  /** The entry that was at each path; undefined if there was none, in which case a command has created any entry that is there now. */
  readonly places: ReadonlyMap<string, Place | undefined>
  /** The current paths of denied entries. */
  readonly denied: readonly string[]
}
