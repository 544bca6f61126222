/** One file of a planned patch, as the Guardian sees it. */
export type PatchChange = {
  /** Absolute real path. */
  readonly path: string
  readonly kind: 'add' | 'update' | 'delete'
  /** Absolute real path that the file had before it was moved. Absent: it is not moved. */
  readonly movedFrom?: string
}
