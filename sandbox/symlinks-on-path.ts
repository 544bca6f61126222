import { lstatSync, readlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** The symlinks that a path passes through, each with its directory resolved. It stops at the first component that doesn't exist. */
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

/** The number of symlinks that the kernel follows. */
const mostLinks = 40

/** Undefined if nothing is there, or can be there: the path leads through a file, or into a directory that this user can't read. */
function isSymlink(path: string): boolean | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  } catch {
    return undefined
  }
}
