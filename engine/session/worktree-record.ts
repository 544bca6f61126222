/** A worktree that a run works in. */
export type Worktree = {
  /** Its directory, without symlinks. */
  readonly path: string
  /** Absent: a hook made it, by its own means. */
  readonly git?: {
    readonly branch: string
    /** The commit that it began with. */
    readonly base: string
    /** Where git stores its data about it. */
    readonly admin: string
  }
}
