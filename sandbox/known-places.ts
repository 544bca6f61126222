import type { Place } from './held-place.ts'

/** What paths of a policy have meant to those who gave them, for a sandbox that is opened later, when commands may have moved them. */
export type KnownPlaces = {
  /** What lies at a path; undefined where nothing did, so that what is there by now is a command's own. */
  readonly places: ReadonlyMap<string, Place | undefined>
  /** Where what was denied is by now. */
  readonly denied: readonly string[]
}
