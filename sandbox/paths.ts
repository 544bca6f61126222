/** Whether `path` is `directory` or lies below it. Both absolute and normalized; compares whole components. */
export function isWithin(path: string, directory: string): boolean {
  // Called thousands of times in a start, so it creates no intermediate strings.
  if (directory === '/') return true
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

/** How many components an absolute path has. */
export function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1
}
