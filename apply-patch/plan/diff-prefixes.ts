import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Warning } from '../change-set.ts'
import type { Patch, PatchOperation } from '../patch.ts'

/**
 * Removes the `a/` and `b/` that diffs put before paths, where a patch can only mean the file without it: the file to update or delete exists only there. Once
 * that is so for one file, the same is removed from the paths of new files, if there is no folder of that name.
 *
 * @returns the patch with the paths that are meant, and a warning for each changed one
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Delete File: a/old.txt\n*** End Patch\n')
 * console.log(withoutDiffPrefixes(patch, '.').patch.operations[0]?.path) // old.txt, if there is such a file, and no a/old.txt
 */
export function withoutDiffPrefixes(
  patch: Patch,
  root: string,
): { readonly patch: Patch; readonly warnings: readonly Warning[] } {
  if (!patch.operations.some((one) => withoutPrefix(one.path) !== undefined)) return { patch, warnings: [] }
  const made = new Set<string>()
  const exists = (path: string): boolean =>
    made.has(path) || lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined
  const isMeant = ({ type, path }: PatchOperation): boolean => {
    const plain = withoutPrefix(path)
    return type !== 'add' && plain !== undefined && !isThere(exists, path) && isThere(exists, plain)
  }
  const meant = patch.operations.map((operation) => {
    const isChanged = isMeant(operation)
    if (operation.type === 'add') made.add(operation.path)
    if (operation.type === 'update' && operation.moveTo !== undefined) made.add(operation.moveTo)
    return isChanged
  })
  if (!meant.includes(true)) return { patch, warnings: unclear(patch, exists) }
  const warnings: Warning[] = []
  const strip = (path: string, patchLine: number): string => {
    const plain = withoutPrefix(path) ?? path
    warnings.push({
      code: 'diff-prefix',
      message: `took ${path} for ${plain}, because the prefix is that of a diff`,
      path: plain,
      patchLine,
    })
    return plain
  }
  const stripNew = (path: string, line: number): string =>
    withoutPrefix(path) === undefined || isThere(exists, path.slice(0, 1)) ? path : strip(path, line)
  const operations = patch.operations.map((operation, index): PatchOperation => {
    const { type, path, line } = operation
    if (type === 'add') return { ...operation, path: stripNew(path, line) }
    const plain = meant[index] === true ? strip(path, line) : path
    if (type === 'delete' || operation.moveTo === undefined) return { ...operation, path: plain }
    return { ...operation, path: plain, moveTo: stripNew(operation.moveTo, line + 1) }
  })
  return { patch: { ...patch, operations }, warnings }
}

/** Warnings about new files in a new folder `a` or `b`, where nothing shows whether that is a folder or the prefix of a diff. */
function unclear({ operations }: Patch, exists: (path: string) => boolean): readonly Warning[] {
  return operations.flatMap(({ type, path, line }): readonly Warning[] => {
    if (type !== 'add' || withoutPrefix(path) === undefined || isThere(exists, path.slice(0, 1))) return []
    const message = `${path} is a new file in a new folder; if ${path.slice(0, 2)} is the prefix of a diff, leave it out`
    return [{ code: 'diff-prefix', message, path, patchLine: line }]
  })
}

/**
 * A path without the `a/` or `b/` of a diff; undefined if it has none, or leads elsewhere without it.
 *
 * @internal
 */
export function withoutPrefix(path: string): string | undefined {
  const plain = /^[ab]\/(.+)$/s.exec(path)?.[1]
  return plain === undefined || plain.startsWith('/') || plain.split('/').includes('..') ? undefined : plain
}

/** Whether something exists. A path that can't be examined counts as existing, so that nothing is guessed about it. */
function isThere(exists: (path: string) => boolean, path: string): boolean {
  try {
    return exists(path)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}
