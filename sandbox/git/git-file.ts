import { realpathSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { readHostFile } from '../host-files.ts'

/** The path, without symlinks, to which a file or symlink named `.git` leads; undefined if it names no path, or if nothing exists at that path. */
export function targetOfGitFile(link: string): string | undefined {
  try {
    const real = realpathSync.native(link)
    if (basename(real) !== '.git' || real !== link) return real
    const target = /^gitdir: (.+)$/m.exec(read(link) ?? '')?.[1]
    return target === undefined ? undefined : realpathSync.native(resolve(dirname(link), target))
  } catch {
    // Nothing exists at `link`, or at the path to which it leads.
    return undefined
  }
}

function read(file: string): string | undefined {
  return readHostFile(file)?.toString().trim()
}
