/** The content of a file before and after a change. `before` or `after` is undefined if the file doesn't exist at that time. */
export type FilePair = {
  readonly path: string
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** The permission bits at both times, if whether the file can be executed matters. They are compared if both folders have the file. */
  readonly modes?: { readonly before?: number | undefined; readonly after?: number | undefined }
}
