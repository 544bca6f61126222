/** One mount of the file system that a command sees. Its path contains no symlinks. */
export type Mount = {
  /** The path at which something is mounted. */
  readonly path: string
  /** The path on the host of what is mounted, without symlinks. If it is absent, `path` is also the path on the host. */
  readonly source?: string
  /** Only for overlays: a directory that contains the directories `upper` and `work`. */
  readonly storage?: string
  readonly as:
    | 'writable'
    | 'read-only'
    /** The run's own temporary directory, or the directory of the run's own that `source` names. */
    | 'private'
    /** A directory in memory that is empty except for the mounts that are placed in it. Commands can't write to it. */
    | 'tmpfs'
    | 'empty-directory'
    | 'refused-file'
    /** An overlay over the directory `source`. What commands write in it is stored in the directory `storage`. */
    | 'cache'
    /** The same for the root of a view with layers. Where no overlay is possible, the command doesn't start. */
    | 'layered'
    | 'layered-read-only'
    /** The content of `source` is shown in place of the file, but only if commands can see the file at all. */
    | 'replaced-file'
}
