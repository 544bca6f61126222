import { join } from 'node:path'
import { describeDeny, type FileDeny, type PermissionSet } from '../../policies/index.ts'
import { isInside } from '../core/directories-between.ts'
import { pathsBelow } from '../core/paths-below.ts'

/** What a sandbox can enforce of the files that permissions deny. */
export type DeniedFiles = {
  /** Hidden from commands. */
  readonly deniedReads: readonly string[]
  /** Commands may not change, remove or rename them. */
  readonly protectedPaths: readonly string[]
  /** Denials that no sandbox enforces, or only in part, and why; the Guardian and the file tools enforce all of them. */
  readonly loose: readonly LooseDeny[]
}

/** A denial as written, with its position, and how far it is enforced. */
export type LooseDeny = { readonly deny: string; readonly why: string }

/** How many entries of directories are looked at for patterns that are no plain path or name. */
const mostEntries = 100_000

/**
 * Turns `Read(…)` and `Edit(…)` denials into paths that a sandbox hides and protects. Plain paths, whole folders and names at any depth
 * also apply to files created later; other patterns apply to the files that exist now below their fixed beginning.
 *
 * @param confining whether the sandbox confines commands at all
 */
export function deniedFiles(permissions: PermissionSet, workspace: string, confining: boolean): DeniedFiles {
  const deniedReads: string[] = []
  const protectedPaths: string[] = []
  const loose: LooseDeny[] = []
  let entries = 0
  for (const deny of permissions.paths.filter(({ decision }) => decision === 'forbidden')) {
    const tell = (why: string): void => void loose.push({ deny: describeDeny(deny), why })
    if (!confining) {
      tell('no sandbox enforces it: commands are judged by what can be read of them')
      continue
    }
    const into = deny.access === 'read' ? deniedReads : protectedPaths
    const simple = simplePlace(deny, workspace)
    if (simple === 'everything')
      tell('it means everything there is, which commands need: only file tools and what commands name are held to it')
    else if (simple !== undefined && (deny.access === 'read' || !/[*?]/.test(simple.slice(3)))) into.push(simple)
    else {
      const base = deny.pattern.base(workspace)
      if (!isInside(base, workspace)) {
        tell('it is a pattern outside the workspace: only file tools and what commands name are held to it')
        continue
      }
      for (const { path } of pathsBelow(base)) {
        if (++entries > mostEntries) break
        if (deny.pattern.matches(path, workspace, true)) into.push(path)
      }
      tell(
        entries > mostEntries
          ? `only the first ${mostEntries} files were looked at: commands are held to it for what was found there`
          : 'commands are held to it for files that are there when the run begins',
      )
    }
  }
  return { deniedReads, protectedPaths, loose }
}

/** A path or a pattern of names that is equivalent to a denial; undefined where there is none. */
function simplePlace({ pattern }: FileDeny, workspace: string): string | 'everything' | undefined {
  // Denying everything in a folder denies the folder.
  const place = pattern.glob.replace(/(?:\/\*\*?)+$/, '')
  if (/^\*{0,2}$/.test(place)) return 'everything'
  if (!/[*?[\\]/.test(place)) return join(pattern.anchor ?? workspace, place)
  const inWorkspace = pattern.anchor === undefined || isInside(workspace, pattern.anchor)
  return inWorkspace && /^\*\*\/[^/[\\]+$/.test(place) ? place : undefined
}
