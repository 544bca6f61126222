/** One file of a planned patch, as the Guardian sees it. */
export type PatchChange = {
  /** Absolute real path. */
  readonly path: string
  readonly kind: 'add' | 'update' | 'delete'
  /** Absolute real path from which a moved file comes. */
  readonly movedFrom?: string
}
