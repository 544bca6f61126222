import { lstatSync, readlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** The symlinks by which a path leads to where it leads, each by a path whose directories are none; as far as there is anything. */
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

/** As many as the kernel follows. */
const mostLinks = 40

/** Undefined where nothing is, or nothing can be: below a file, or where this user may not look. */
function isSymlink(path: string): boolean | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  } catch {
    return undefined
  }
}
