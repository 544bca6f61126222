/** One step in building what the command sees, at a path without symlinks. */
export type Mount = {
  /** Where it is mounted. */
  readonly path: string
  /** The host's path to mount there, without symlinks, if it isn't `path` itself. */
  readonly source?: string
  readonly as:
    | 'writable'
    | 'read-only'
    /** The run's own temporary directory. */
    | 'private'
    /** An empty directory in memory that later mounts may lie in; nobody can write to it afterwards. */
    | 'tmpfs'
    | 'empty-directory'
    | 'refused-file'
    /** The content of `source`, in place of a file, if that file is visible at all. */
    | 'replaced-file'
}
