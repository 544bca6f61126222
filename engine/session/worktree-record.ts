/** A worktree that a run works in. */
export type Worktree = {
  /** The worktree's directory, without symlinks. */
  readonly path: string
  /** Git's data about the worktree. Absent if a hook created the worktree without git. */
  readonly git?: {
    readonly branch: string
    /** The commit that the worktree was created from. */
    readonly base: string
    /** The directory inside the repository's `.git` where git stores its data about the worktree. */
    readonly admin: string
  }
}
