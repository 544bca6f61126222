/** One file of a planned patch, as the Guardian sees it. */
export type PatchChange = {
  /** The file's absolute real path. */
  readonly path: string
  readonly kind: 'add' | 'update' | 'delete'
  /** The absolute real path that the file had before it was moved. Absent: the file isn't moved. */
  readonly movedFrom?: string
}
