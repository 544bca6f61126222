import { join, relative, sep } from 'node:path'

/** Returns each directory from a repository's root down to the workspace, including the root and the workspace themselves. */
export function directoriesBetween(root: string, workspace: string): readonly string[] {
  const parts = relative(root, workspace)
    .split(sep)
    .filter((part) => part !== '')
  return [root, ...parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))]
}

/** Whether a path equals a directory or is inside it, judging only by the names. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}
