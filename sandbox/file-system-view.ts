import { lstatSync, realpathSync, statSync } from 'node:fs'
import { findNamed } from './name-pattern.ts'

type Kind = 'file' | 'directory' | 'absent'

/** What deciding about paths needs to know of the host: an interface, so that decisions are tested without a disk. */
export type FileSystemView = {
  /** What a path is once symlinks are followed; sockets, pipes and devices count as files. */
  kindOf(path: string): Kind
  /** The path without symlinks, or undefined when it leads nowhere. */
  realPath(path: string): string | undefined
  /** Whether the last component itself is a symlink. */
  isSymlink(path: string): boolean
  /** What is below a directory whose name one of the patterns means. */
  named(directory: string, patterns: readonly string[]): readonly string[]
}

/** The machine's own file system. */
export const hostFileSystem: FileSystemView = {
  named: findNamed,
  kindOf: (path) => {
    try {
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat === undefined ? 'absent' : stat.isDirectory() ? 'directory' : 'file'
    } catch {
      // Behind a directory that even this user can't enter: nothing a command of this user could reach.
      return 'absent'
    }
  },
  realPath: (path) => {
    try {
      // Most paths that are asked for aren't there, and an error takes longer to make than to ask.
      return statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync.native(path)
    } catch {
      // A dangling link or an unreachable directory leads nowhere.
      return undefined
    }
  },
  isSymlink: (path) => {
    try {
      return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    } catch {
      // Unreachable, so there is no link that a command could use.
      return false
    }
  },
}
