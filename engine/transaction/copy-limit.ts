/** The maximum number of files and bytes in a tree that is copied. For larger trees, another method is better. */
export type CopyLimit = { readonly files: number; readonly bytes: number }

/** Thrown if a tree can't be copied as requested: it is too large, its file system can't clone files, or overlays can't be used. */
export class CopyRefusal extends Error {
  readonly why: 'large' | 'no-clones' | 'no-overlay'

  constructor(why: CopyRefusal['why'], message: string) {
    super(message)
    this.why = why
  }
}

/** Counts what is copied, and throws `CopyRefusal` as soon as it is more than the limit. */
type Counter = { readonly addFiles: (files: number) => void; readonly addBytes: (bytes: number) => void }

/** @param limit absent: there is no limit */
export function openCounter(tree: string, limit: CopyLimit | undefined): Counter {
  let [files, bytes] = [0, 0]
  const refuse = (what: string): never => {
    throw new CopyRefusal('large', `${tree} contains more than ${what}`)
  }
  return {
    addFiles: (more) => {
      files += more
      if (limit !== undefined && files > limit.files) refuse(`${limit.files} files`)
    },
    addBytes: (more) => {
      bytes += more
      if (limit !== undefined && bytes > limit.bytes) refuse(`${Math.round(limit.bytes / 1_000_000)} MB`)
    },
  }
}
