import { join, relative, sep } from 'node:path'

/** Each directory from a repository's root down to the workspace, both included. */
export function directoriesBetween(root: string, workspace: string): readonly string[] {
  const parts = relative(root, workspace)
    .split(sep)
    .filter((part) => part !== '')
  return [root, ...parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))]
}

/** Whether a path is a directory itself or lies below it, by its name alone. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}
