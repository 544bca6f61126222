import { dirname } from 'node:path'

/** Whether `path` is `directory` itself or is below it. Both must be absolute and normalized. Only whole components are compared. */
export function isWithin(path: string, directory: string): boolean {
  // This is called thousands of times while a run starts, so it creates no temporary strings.
  if (directory === '/') return true
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

/** The number of components in an absolute path. */
export function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1
}

/** The directories above an absolute path, from the nearest one up to the root directory. */
export function ancestors(path: string): readonly string[] {
  const found: string[] = []
  for (let at = path; at !== '/';) {
    at = dirname(at)
    found.push(at)
  }
  return found
}
