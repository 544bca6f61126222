import type { Place } from './held-place.ts'

/**
 * Which entries the paths of a policy meant when the user gave them. A sandbox that is opened later needs this, because commands may have moved the
 * files by then.
 */
export type KnownPlaces = {
  /** The entry that was at each path; undefined if there was none, which means that an entry there now was created by a command. */
  readonly places: ReadonlyMap<string, Place | undefined>
  /** The current paths of denied entries. */
  readonly denied: readonly string[]
}
