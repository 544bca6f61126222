/** Whether `path` is `directory` or lies below it. Both absolute and normalized; compares whole components. */
export function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`)
}

/** How many components an absolute path has. */
export function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1
}
