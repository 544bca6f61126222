import { dirname, isAbsolute, join, resolve } from 'node:path'
import { cachedFileSystem } from '../cached-file-system.ts'
import type { FileSystemView } from '../file-system-view.ts'
import { readlinkSync } from '../host-paths.ts'
import { nestedAhead, nestedPlaces } from '../nested-places.ts'
import { isWithin } from '../paths.ts'
import { protectedByRoots } from '../roots.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { turnsOf } from './turns-of.ts'

/** The most links that one path may lead through, as for the kernel (path_resolution(7)). */
const mostLinks = 40

/**
 * The policy with more protected paths: those in the roots that somebody reaches by a protected name, because links lead there, whether or not anything is
 * there yet. If `.envrc` is a link to `cfg/env`, what a run writes at `cfg/env` is what a shell reads at `.envrc`.
 *
 * @param roots paths without symlinks
 * @param links the absolute paths of the links in the roots
 * @param linkAt where links lead. Default: as on the host
 * @example const policy = protectThroughLinks({ protectedPaths: ['.envrc'] }, ['/work'], ['/work/.envrc'])
 */
export function protectThroughLinks<Policy extends Pick<SandboxPolicy, 'protectedPaths'>>(
  policy: Policy,
  roots: readonly string[],
  links: readonly string[],
  linkAt: LinkAt = linksOfHost(cachedFileSystem()),
): Policy {
  const { inside, outside } = protectedByRoots(roots, policy)
  const [isNamed, ahead] = [nestedPlaces(inside), nestedAhead(inside)]
  const plain = new Set([...inside, ...outside].filter((path) => isAbsolute(path) && !path.includes('\0')))
  const found = new Set<string>()
  const follow = (path: string): void => {
    for (const reached of placesOnTheWay(path, linkAt)) if (!plain.has(reached)) found.add(reached)
  }
  for (const path of plain) follow(path)
  let before: number
  do {
    before = found.size
    for (const link of links) {
      const isProtected = isNamed(link) !== undefined || isBelowAny(link, plain) || isBelowAny(link, found)
      if (isProtected) follow(link)
      for (const rest of ahead(link)) follow(join(link, ...rest))
    }
    // What was found may contain links, and links may lead to it.
  } while (found.size > before)
  const reached = [...found].filter((path) => !roots.includes(path) && roots.some((root) => isWithin(path, root)))
  return reached.length === 0 ? policy : { ...policy, protectedPaths: [...policy.protectedPaths, ...reached] }
}

/** Returns where the link at a path leads: an absolute path, and the turns on the way (see `turnsOf`); undefined if there is no link. */
type LinkAt = (path: string) => { readonly to: string; readonly turns: readonly string[] } | undefined

function isBelowAny(path: string, places: ReadonlySet<string>): boolean {
  for (let at = path; at !== '/'; at = dirname(at)) if (places.has(at)) return true
  return false
}

/** Where a path leads, link by link, and the turns on the way. The path itself isn't among the results. */
function placesOnTheWay(path: string, linkAt: LinkAt): readonly string[] {
  const found: string[] = []
  let next = throughOne(path, linkAt)
  for (let links = 0; next !== undefined && links < mostLinks; links += 1) {
    found.push(next.to, ...next.turns)
    next = throughOne(next.to, linkAt)
  }
  return found
}

/** The path after its first link has been followed; undefined if there is none. */
function throughOne(path: string, linkAt: LinkAt): ReturnType<LinkAt> {
  for (let end = path.indexOf('/', 1); ; end = path.indexOf('/', end + 1)) {
    const led = linkAt(end === -1 ? path : path.slice(0, end))
    if (led !== undefined) return end === -1 ? led : { ...led, to: join(led.to, path.slice(end + 1)) }
    if (end === -1) return undefined
  }
}

function linksOfHost(host: FileSystemView): LinkAt {
  const known = new Map<string, ReturnType<LinkAt>>()
  return (path) => {
    if (!known.has(path)) known.set(path, host.isSymlink(path) ? targetOf(path, host) : undefined)
    return known.get(path)
  }
}

function targetOf(link: string, host: FileSystemView): ReturnType<LinkAt> {
  try {
    return ledTo(link, readlinkSync(link), (path) => host.realPath(path) ?? path)
  } catch {
    // Somebody has removed it since.
    return undefined
  }
}

/**
 * Where a link with this target leads. Two dots lead to the parent of the directory behind a link, not of the link.
 *
 * @internal
 */
export function ledTo(link: string, target: string, realOf: (path: string) => string): NonNullable<ReturnType<LinkAt>> {
  const from = isAbsolute(target) ? '/' : dirname(link)
  const to = target.split('/').reduce((at, name) => (name === '..' ? dirname(realOf(at)) : resolve(at, name)), from)
  return { to, turns: turnsOf(target, from) }
}
