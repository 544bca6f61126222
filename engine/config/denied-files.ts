import { join } from 'node:path'
import { describeDeny, type FileDeny, type PermissionSet } from '../../policies/index.ts'
import { isInside } from '../core/directories-between.ts'
import { pathsBelow } from '../core/paths-below.ts'

/** The part of the file denials that a sandbox can enforce, and the part that it can't. */
export type DeniedFiles = {
  /** Paths, and patterns for names at any depth, that are hidden from commands. */
  readonly deniedReads: readonly string[]
  /** Paths, and names at any depth, that commands can't change, remove or rename. */
  readonly protectedPaths: readonly string[]
  /**
   * Denials that the sandbox can't enforce at all or can enforce only in part, each with the reason. The Guardian and the file tools enforce all of
   * them.
   */
  readonly loose: readonly LooseDeny[]
}

/** A denial as the user wrote it, with its position, and the reason why the sandbox doesn't enforce it or enforces it only in part. */
export type LooseDeny = { readonly deny: string; readonly why: string }

/** The maximum number of paths below one directory that are compared with patterns other than a plain path or name. */
const mostEntries = 100_000

/**
 * Turns `Read(…)` and `Edit(…)` denials into paths that a sandbox hides or protects. A denial of a plain path, a whole folder or a name at any depth
 * also covers files that are created later. A denial with any other pattern (for `Edit`, also with a name that contains `*` or `?`) covers only files
 * that already exist in the workspace.
 *
 * @param confining whether there is a sandbox that confines commands
 */
export function deniedFiles(permissions: PermissionSet, workspace: string, confining: boolean): DeniedFiles {
  const deniedReads: string[] = []
  const protectedPaths: string[] = []
  const loose: LooseDeny[] = []
  const listings = new Map<string, Listing>()
  for (const deny of permissions.paths.filter(({ decision }) => decision === 'forbidden')) {
    const tell = (why: string): void => void loose.push({ deny: describeDeny(deny), why })
    if (!confining) {
      tell('no sandbox enforces it; commands are checked only by analysing their text')
      continue
    }
    const into = deny.access === 'read' ? deniedReads : protectedPaths
    const simple = simplePlace(deny, workspace)
    if (simple === 'everything')
      tell(
        'it covers all files, and commands need some of them; it applies only to file tools and to paths that commands name',
      )
    else if (simple !== undefined && (deny.access === 'read' || !/[*?]/.test(simple.slice(3)))) into.push(simple)
    else {
      const base = deny.pattern.base(workspace)
      if (!isInside(base, workspace)) {
        tell(
          'its pattern is for paths outside the workspace; it applies only to file tools and to paths that commands name',
        )
        continue
      }
      const listing = listings.get(base) ?? list(base)
      listings.set(base, listing)
      for (const path of listing.paths) if (deny.pattern.matches(path, workspace, true)) into.push(path)
      tell(
        listing.isCut
          ? `for commands, it applies only to matches among the first ${mostEntries} files and directories in ${base}`
          : 'for commands, it applies only to files that exist when the run starts',
      )
    }
  }
  return { deniedReads, protectedPaths, loose }
}

type Listing = { readonly paths: readonly string[]; readonly isCut: boolean }

/** Lists what is below a directory, up to the limit. */
function list(directory: string): Listing {
  const paths: string[] = []
  for (const { path } of pathsBelow(directory)) {
    if (paths.length === mostEntries) return { paths, isCut: true }
    paths.push(path)
  }
  return { paths, isCut: false }
}

/**
 * The path or name pattern that has the same meaning as a denial; `everything` if the denial covers all files; undefined if there is no such path or pattern.
 */
function simplePlace({ pattern }: FileDeny, workspace: string): string | 'everything' | undefined {
  // A denial of everything in a folder is treated as a denial of the folder itself.
  const place = pattern.glob.replace(/(?:\/\*\*?)+$/, '')
  if (/^\*{0,2}$/.test(place)) return 'everything'
  if (!/[*?[\\]/.test(place)) return join(pattern.anchor ?? workspace, place)
  const inWorkspace = pattern.anchor === undefined || isInside(workspace, pattern.anchor)
  return inWorkspace && /^\*\*\/[^/[\\]+$/.test(place) ? place : undefined
}
