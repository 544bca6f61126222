import type { Place } from './held-place.ts'

/** What paths of a policy meant to the user who gave them, for a sandbox that is opened later, when commands may have moved the files. */
export type KnownPlaces = {
  /** The entry at a path; undefined if there was none, so that an entry which is there now was created by a command. */
  readonly places: ReadonlyMap<string, Place | undefined>
  /** The current path of a denied entry. */
  readonly denied: readonly string[]
}
