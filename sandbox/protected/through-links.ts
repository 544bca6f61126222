import { dirname, isAbsolute, join, resolve } from 'node:path'
import { cachedFileSystem } from '../cached-file-system.ts'
import type { FileSystemView } from '../file-system-view.ts'
import { readlinkSync } from '../host-paths.ts'
import { nestedAhead, nestedPlaces } from '../nested-places.ts'
import { isWithin } from '../paths.ts'
import { protectedByRoots } from '../roots.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'

/** The most links that one path may lead through, as for the kernel (path_resolution(7)). */
const mostLinks = 40

/**
 * The policy with more protected paths: those in the roots that somebody reaches by a protected name, because links lead there, whether or not anything is
 * there yet. If `.envrc` is a link to `cfg/env`, what a run writes at `cfg/env` is what a shell reads at `.envrc`.
 *
 * @param roots paths without symlinks
 * @param links the absolute paths of the links in the roots
 * @example const policy = protectThroughLinks(sandbox.policy, ['/work'], ['/work/.envrc'])
 */
export function protectThroughLinks<Policy extends Pick<SandboxPolicy, 'protectedPaths'>>(
  policy: Policy,
  roots: readonly string[],
  links: readonly string[],
  host: FileSystemView = cachedFileSystem(),
): Policy {
  const { inside, outside } = protectedByRoots(roots, policy)
  const [isNamed, ahead] = [nestedPlaces(inside), nestedAhead(inside)]
  const throughLinks = links.flatMap((link) => {
    const below = ahead(link).map((rest) => join(link, ...rest))
    return isNamed(link) === undefined ? below : [link, ...below]
  })
  const plain = [...inside, ...outside].filter((path) => isAbsolute(path) && !path.includes('\0'))
  const linkAt = openLinks(host)
  const found = new Set([...throughLinks, ...plain].flatMap((path) => placesOnTheWay(path, linkAt)))
  const reached = [...found].filter(
    (path) => !roots.includes(path) && roots.some((root) => isWithin(path, root)) && !plain.includes(path),
  )
  return reached.length === 0 ? policy : { ...policy, protectedPaths: [...policy.protectedPaths, ...reached] }
}

/** Where a path leads, link by link. The path itself isn't among the results. */
function placesOnTheWay(path: string, linkAt: (directory: string) => string | undefined): readonly string[] {
  const found: string[] = []
  for (let next = throughOne(path, linkAt); next !== undefined; next = throughOne(next, linkAt)) {
    found.push(next)
    if (found.length === mostLinks) break
  }
  return found
}

/** The path after its first link has been followed; undefined if there is none. */
function throughOne(path: string, linkAt: (directory: string) => string | undefined): string | undefined {
  for (let end = path.indexOf('/', 1); ; end = path.indexOf('/', end + 1)) {
    const to = linkAt(end === -1 ? path : path.slice(0, end))
    if (to !== undefined) return end === -1 ? to : join(to, path.slice(end + 1))
    if (end === -1) return undefined
  }
}

/** Returns a function that returns where a link leads; undefined if a path isn't one. */
function openLinks(host: FileSystemView): (path: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  return (path) => {
    if (!known.has(path)) known.set(path, host.isSymlink(path) ? targetOf(path, host) : undefined)
    return known.get(path)
  }
}

function targetOf(link: string, host: FileSystemView): string | undefined {
  try {
    // Two dots lead to the parent of the directory behind a link, not of the link.
    const target = readlinkSync(link)
    const from = isAbsolute(target) ? '/' : dirname(link)
    return target
      .split('/')
      .reduce((at, name) => (name === '..' ? dirname(host.realPath(at) ?? at) : resolve(at, name)), from)
  } catch {
    // Somebody has removed it since.
    return undefined
  }
}
