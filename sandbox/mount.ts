/** One step in building what the command sees, at a path without symlinks. */
export type Mount = {
  /** Where it is mounted. */
  readonly path: string
  /** What of the host is mounted there, without symlinks, where it isn't what lies at `path` itself. */
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
    /** What `source` holds, in place of a file and where that is to be seen at all. */
    | 'replaced-file'
}
