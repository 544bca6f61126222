import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { credentialPlaces } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import type { McpServer } from '../mcp/server.ts'

/** Files that lie at the root of a package, in which a program finds its own modules. */
const packageFiles: readonly string[] = ['package.json', 'pyproject.toml']

/**
 * The places that the user's own servers are configured with: programs, scripts with the package or directory around them, and directories. Commands must
 * be able to read them, because the servers run in the sandbox. A home directory, a directory above one, and places with credentials aren't among them.
 */
export function placesOfServers(servers: readonly McpServer[], home: string): readonly string[] {
  const secret = credentialPlaces().flatMap(realOf)
  const mayShow = (path: string): boolean =>
    path !== '/' && !isInside(home, path) && !secret.some((place) => isInside(path, place) || isInside(place, path))
  const words = servers.flatMap(({ transport, isOwn }) =>
    isOwn === true && transport.type === 'stdio' && transport.sandboxed
      ? [...transport.argv, ...(transport.cwd === undefined ? [] : [transport.cwd])]
      : [],
  )
  const named = words.filter((word) => isAbsolute(word)).flatMap(realOf)
  return [...new Set(named.flatMap((path) => [packageOf(path, home), path].filter(mayShow).slice(0, 1)))]
}

/** The directory that a program needs: the nearest one with a package, or else its own. For a file directly in a home or in its settings: the file. */
function packageOf(path: string, home: string): string {
  if (statSync(path).isDirectory()) return path
  const own = dirname(path)
  for (let at = own; at !== '/' && at !== home; at = dirname(at))
    if (packageFiles.some((name) => existsSync(join(at, name)))) return at
  return dirname(own) === home && own.startsWith(join(home, '.')) ? path : own
}

function realOf(path: string): readonly string[] {
  try {
    return [realpathSync(path)]
  } catch {
    // It doesn't exist, or this user can't reach it.
    return []
  }
}
