import { basename, dirname, join } from 'node:path'
import type { RunChange } from '../../transaction/change-record.ts'
import { keptBytes, keptPiece } from '../../transaction/kept-files.ts'
import { largestPacked } from '../../transaction/packed-contents.ts'
import { installedIn, isSamePackage } from './installed-packages.ts'
import type { JudgePart } from './judge-parts.ts'
import { isIn, textIn, type JudgeTree } from './judge-tree.ts'
import { mergeManifest } from './merge-manifest.ts'

/** What is done with the changes of a run when a tree for a judge is put together. */
type PutTogether = {
  readonly part: (path: string) => JudgePart
  /** The tree of the base. */
  readonly base: string
  /** The tree as the run has left it. */
  readonly own: string
  /** The directory of the session, which stores what the changes contain. */
  readonly directory: string
  /** Whether the base's judge has shown tests, so that what starts programs there is all that it needs. */
  readonly needsNone: boolean
}

/**
 * Puts those of a run's changes into a tree that its judge doesn't keep as in the base. Contents come from the record of the changes, so they are what lands, whatever the
 * run's commands do meanwhile. What git ignores stays as in the base as well, unless a package manager has installed it: built files must be built from the base's
 * tests.
 *
 * @returns the installed files that are the run's
 */
export function putChanges(tree: JudgeTree, changes: readonly RunChange[], options: PutTogether): readonly string[] {
  const { part, base, directory } = options
  const [kept, taken, merged, installed]: [string[], RunChange[], RunChange[], string[]] = [[], [], [], []]
  for (const change of changes) {
    const { path, ignored } = change
    const what = part(path)
    const isInstalled = what === 'dependency' && !isOfBase(path, options)
    if (isInstalled) installed.push(path)
    if (isInstalled || (what === 'source' && ignored !== true)) taken.push(change)
    else if (what === 'manifest') merged.push(change)
    else kept.push(path)
  }
  putAll(tree, taken, directory)
  // A change may have put something in the place of a directory of the judge.
  for (const path of kept) if (isIn(base, path) && tree.find(path) === undefined) tree.copyFrom(base, path)
  for (const change of merged) putManifest(tree, change, options)
  return installed
}

/** Makes changes of a run in a tree. Directories that the run has removed are empty there. */
export function putAll(tree: JudgeTree, changes: readonly RunChange[], directory: string): void {
  for (const { path, before, after } of changes)
    if (after.type === 'absent' && before.type !== 'directory') tree.remove(path)
  for (const { path, after } of changes) {
    if (after.type === 'directory') tree.makeDirectory(path)
    else if (after.type === 'symlink') tree.makeLink(path, after.target)
    else if (after.type === 'file') putFile(tree, path, after, directory)
  }
}

function putFile(
  tree: JudgeTree,
  path: string,
  { hash, mode, size }: Extract<RunChange['after'], { readonly type: 'file' }>,
  directory: string,
): void {
  if (hash === null) throw new Error(`The change can't be judged: what ${path} contains is unknown.`)
  const piece = size > largestPacked ? keptPiece(directory, hash, size) : undefined
  if (piece !== undefined && 'file' in piece) tree.copyFile(path, piece.file, mode)
  else tree.writeFile(path, keptBytes(directory, hash), mode)
}

function putManifest(tree: JudgeTree, change: RunChange, { base, directory }: PutTogether): void {
  const { path, after } = change
  const before = textIn(base, path)
  const exists = (each: string): boolean => tree.find(join(dirname(path), each)) !== undefined
  // A manifest that is only in one of the trees has no judge to keep, except that a new one starts nothing that the base's command reaches.
  if (before === undefined) putAll(tree, [change], directory)
  if (before === undefined || after.type !== 'file' || after.hash === null) return
  const merged = mergeManifest(basename(path), before, keptBytes(directory, after.hash).toString(), exists)
  if (merged !== undefined) tree.writeFile(path, merged, after.mode)
}

/** Whether an installed file belongs to the base: to a package that is still the same version, or to what starts programs. */
function isOfBase(path: string, { base, own, needsNone }: PutTogether): boolean {
  const read = (root: string) => (each: string) => textIn(root, each)
  const isSame = isSamePackage(path, read(base), read(own))
  if (isSame !== undefined) return isSame
  // Without any installed packages in the base, those of the run are all there are.
  const folder = installedIn(path, (each) => [base, own].some((root) => isIn(root, each)))
  if (folder === undefined || !folder.endsWith('node_modules')) return isIn(base, path)
  return needsNone || isIn(base, folder)
}
