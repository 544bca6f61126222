/**
 * A file that could not be restored, or an entry that could not be removed, and why: an errno, or `changed` if another program has written to it since the
 * commit began. `stays`: the entry does no harm and can't be removed, such as a mount point or a file in an append-only directory, so trying again is
 * useless; the text describes the entry, as in "a temporary file".
 */
export type Leftover = {
  readonly path: string
  readonly reason: string
  readonly stays?: string
}

/** Whether something remains to be done, so that the journal is still needed. */
export function isUnfinished(leftovers: readonly Leftover[]): boolean {
  return leftovers.some(({ stays }) => stays === undefined)
}

/** Marks an entry that can't be removed because it is a mount point, or because its directory doesn't allow that. */
export function mayStay(leftover: Leftover, as: string): Leftover {
  return ['EBUSY', 'EPERM', 'EACCES', 'EROFS'].includes(leftover.reason) ? { ...leftover, stays: as } : leftover
}
