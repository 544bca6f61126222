import type { CopyStats } from '../../sandbox/index.ts'
import type { CleanFiles } from './clean-files.ts'
import { stampOf, type Manifest, type Original, type Stamped } from './view-manifest.ts'

/** A copied file: the metadata of the original and of the copy, and whether it has several names. */
export type CopiedFile = {
  readonly original: Stamped
  readonly copy: Stamped & { readonly dev: bigint }
  readonly isLinked: boolean
}

/** The metadata of copies of files that match git's index. `linked`: it must be read at the end, because each further hard link changes it. */
export type CleanCopies = ReadonlyMap<string, CopyStats | 'linked'>

/** Records what was copied. */
type CopyRecord = {
  readonly manifest: Manifest
  readonly copies: CleanCopies
  /** The keys of the directories, each after its parent. */
  readonly directories: readonly string[]
  readonly addFile: (key: string, file: CopiedFile) => void
  readonly addDirectory: (key: string, mode: number) => void
  readonly add: (original: Original) => void
}

/** @param clean returns which files match git's index; it is called when the first file is added */
export function openRecord(clean: () => CleanFiles): CopyRecord {
  const manifest = new Map<string, Original>()
  const copies = new Map<string, CopyStats | 'linked'>()
  const directories = ['']
  return {
    manifest,
    copies,
    directories,
    addFile: (key, { original, copy, isLinked }) => {
      const [mode, size] = [Number(original.mode & 0o7777n), Number(original.size)]
      const file = { key, kind: 'file' as const, mode, size, was: stampOf(original), stamp: stampOf(copy) }
      const blob = clean().blobOf(key, original)
      manifest.set(key, blob === undefined ? file : { ...file, blob })
      const { ctimeNs, mtimeNs, dev, ino } = copy
      if (blob !== undefined) copies.set(key, isLinked ? 'linked' : { ctimeNs, mtimeNs, dev, ino })
    },
    addDirectory: (key, mode) => {
      manifest.set(key, { key, kind: 'directory', mode })
      directories.push(key)
    },
    add: (original) => void manifest.set(original.key, original),
  }
}
