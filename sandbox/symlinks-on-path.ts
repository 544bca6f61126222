import { isAbsolute, join } from 'node:path'
import { lstatSync, readlinkSync } from './host-paths.ts'

/** The symlinks in a path, each as a path whose directory is resolved. The search stops at the first component that doesn't exist. */
export function symlinksOnPath(path: string): readonly string[] {
  const links = new Set<string>()
  let parts = path.split('/')
  let at = '/'
  while (parts.length > 0 && links.size < mostLinks) {
    const [name = '', ...rest] = parts
    parts = rest
    const next = join(at, name)
    const isLink = isSymlink(next)
    if (isLink === undefined) break
    if (isLink) {
      links.add(next)
      const target = readlinkSync(next)
      if (isAbsolute(target)) at = '/'
      parts = [...target.split('/'), ...parts]
    } else at = next
  }
  return [...links]
}

/** The maximum number of symlinks that the kernel follows in one path. */
const mostLinks = 40

/**
 * Whether the entry at a path is a symlink. Undefined if there is no entry, or if it can't be reached because the path leads through a file or a
 * directory that this user can't enter.
 */
function isSymlink(path: string): boolean | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  } catch {
    return undefined
  }
}
