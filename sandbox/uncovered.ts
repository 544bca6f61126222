import { type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { lstatSync } from './host-paths.ts'
import type { Mount } from './mount.ts'
import type { Denial } from './sandbox.ts'

/** The hidden and read-only files of a command, as they are when the command starts. */
type Covered = {
  /** Identifies the hidden and read-only files: this text changes when one of them is replaced. */
  readonly stamp: string
  /** Returns denials for the hidden and read-only files that have lost their mounts since the command started. */
  readonly uncovered: () => readonly Denial[]
}

/**
 * Returns a function that watches a command's files for a change that no sandbox can prevent. The kernel removes a mount from a file when a program
 * outside the sandbox renames another file over that file, as editors do to save safely (rename(2); `detach_mounts` in Linux). From then on, running
 * commands see the new file. Each path is reported once.
 */
export function createUncoveredWatch(): (mounts: readonly Mount[], lstat?: Look) => Covered {
  const told = new Set<string>()
  return (mounts, lstat = lookNow) => {
    const parents = new Map<string, string | undefined>()
    const covered = mounts.flatMap(({ path, as, source }) => {
      if (source !== undefined || (as !== 'refused-file' && as !== 'read-only')) return []
      const file = identify(path, lstat)
      if (file === undefined || file.isDirectory) return []
      const parent = dirname(path)
      if (!parents.has(parent)) parents.set(parent, identify(parent, lstat)?.key)
      return [{ path, as, key: file.key, parent: parents.get(parent) }]
    })
    return {
      stamp: covered.map(({ key }) => key).join(' '),
      uncovered: () =>
        covered.flatMap(({ path, as, key, parent }) => {
          if (told.has(path)) return []
          const now = identify(path)
          // If a directory above the file was renamed, the mount has moved with it.
          if (now === undefined || now.key === key || identify(dirname(path))?.key !== parent) return []
          told.add(path)
          return [denialOf(path, as === 'read-only')]
        }),
    }
  }
}

function denialOf(path: string, isReadOnly: boolean): Denial {
  const [right, rule] = isReadOnly ? ['write', 'protectedPaths'] : ['read', 'deniedReads']
  return {
    kind: 'path',
    subject: `${path} only until a program outside the sandbox replaced that file; from then on, this command could ${right} the new file`,
    rule,
    certainty: 'proven',
    remedy: {
      kind: 'otherwise',
      advice: 'nothing has to be done; to keep the file protected, replace it only while no command is running',
    },
  }
}

/**
 * A function that looks up the entry at a path, without following a symlink there. The answer must describe the host in the state for which the
 * mounts were planned.
 */
type Look = (path: string) => Stats | undefined

function lookNow(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function identify(
  path: string,
  lstat: Look = lookNow,
): { readonly key: string; readonly isDirectory: boolean } | undefined {
  try {
    const stat = lstat(path)
    return stat && { key: `${stat.dev}:${stat.ino}`, isDirectory: stat.isDirectory() }
  } catch {
    // The path leads through a directory that this user can't enter, so commands could never reach the file.
    return undefined
  }
}
