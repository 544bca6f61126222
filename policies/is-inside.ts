import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is the given root or is below it. Compares whole folder names, so `/repo-other` isn't in `/repo`. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
