import { statSync } from 'node:fs'

/** What is wrong with a directory that was given as the root, and what was expected; undefined if it can be used. */
export function rootFault(path: string): string | undefined {
  const fault = findFault(path)
  return fault && `${fault}; expected an existing directory, to which the paths of the patch are relative`
}

function findFault(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return 'there is no such directory'
    return stats.isDirectory() ? undefined : 'it is not a directory'
  } catch (error) {
    return `it can't be reached (${error instanceof Error ? error.message : String(error)})`
  }
}
