/** One step in building the file system that a command sees, at a path without symlinks. */
export type Mount = {
  /** Where it is mounted. */
  readonly path: string
  /** The host's path to mount there, without symlinks. Absent: the same as `path`. */
  readonly source?: string
  readonly as:
    | 'writable'
    | 'read-only'
    /** The run's own temporary directory. */
    | 'private'
    /** An empty directory in memory, in which later mounts may be placed. Nobody can write to it afterwards. */
    | 'tmpfs'
    | 'empty-directory'
    | 'refused-file'
    /** The content of `source` is shown in place of a file, but only if that file is visible at all. */
    | 'replaced-file'
}
