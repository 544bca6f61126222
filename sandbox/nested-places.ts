import { join, relative } from 'node:path'
import { isWithin } from './paths.ts'

/** In a list of protected paths: `ROOT/**` and a slash, then what is protected in the root and in every directory below it. */
const anywhere = '/**/'

/** Whether a protected path stands for many: one in each directory of a root. */
export function isNested(path: string): boolean {
  return path.includes(anywhere)
}

/** Programs of others, which nobody opens as a project of their own. */
export const spared = 'node_modules'

/** The names that a directory below `root` must have an entry of for a nested protected path to exist in it. */
export function nestedNames(patterns: readonly string[], root: string): readonly string[] {
  return patterns.filter(isNested).flatMap((pattern) => {
    const parts = splitNested(pattern)
    return parts.root === root ? parts.rest.slice(0, 1) : []
  })
}

/** The protected paths that an entry found below `root` may hold, or be. */
export function nestedAt(patterns: readonly string[], root: string, entry: string): readonly string[] {
  if (relative(root, entry).split('/').includes(spared)) return []
  return patterns.filter(isNested).flatMap((pattern) => {
    const parts = splitNested(pattern)
    return parts.root === root && entry.endsWith(`/${parts.rest[0]}`) ? [join(entry, ...parts.rest.slice(1))] : []
  })
}

/** The nested protected path that `path` is or lies in. */
export function nestedPlaceOf(path: string, patterns: readonly string[]): string | undefined {
  for (const pattern of patterns.filter(isNested)) {
    const { root, rest } = splitNested(pattern)
    const parts = isWithin(path, root) ? relative(root, path).split('/') : []
    const at = parts.findIndex((_, index) => rest.every((name, offset) => parts[index + offset] === name))
    if (at !== -1 && !parts.slice(0, at).includes(spared)) return join(root, ...parts.slice(0, at + rest.length))
  }
  return undefined
}

/** The root of a nested protected path, and the names from any directory of it on. */
export function splitNested(pattern: string): { readonly root: string; readonly rest: readonly string[] } {
  const at = pattern.indexOf(anywhere)
  return { root: pattern.slice(0, at), rest: pattern.slice(at + anywhere.length).split('/') }
}
