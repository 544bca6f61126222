import { statSync } from 'node:fs'

/** What is wrong with a directory that was named as the root, and what was expected; undefined when it will do. */
export function rootFault(path: string): string | undefined {
  const fault = findFault(path)
  return fault && `${fault}; expected an existing directory, the one that the paths of the patch start from`
}

function findFault(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return 'there is no such directory'
    return stats.isDirectory() ? undefined : 'it is not a directory'
  } catch (error) {
    return `it can not be reached (${error instanceof Error ? error.message : String(error)})`
  }
}
