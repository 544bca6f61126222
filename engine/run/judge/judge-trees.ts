import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { encodePath, readHostFile, removeTree, type View } from '../../../sandbox/index.ts'
import { isInside } from '../../core/directories-between.ts'
import { copyGit } from '../../transaction/copy-git.ts'
import { copyTree } from '../../transaction/copy-tree.ts'
import { CopyRefusal } from '../../transaction/copy-limit.ts'
import { sessionsIn } from '../../transaction/private-view.ts'
import type { PrivateView } from '../../transaction/stored-view.ts'
import type { RunChange } from '../../transaction/change-record.ts'
import { packageOf, type JudgePart } from './judge-parts.ts'
import { mergeManifest } from './merge-manifest.ts'

const largest = 512 * 1024 * 1024

/** Throw-away copies of all trees of a view, which commands see at the paths of the trees. */
export type JudgeTrees = { readonly views: readonly View[]; readonly remove: () => Promise<void> }

/**
 * Copies the trees of a view.
 *
 * @param which `base`: as the user has them; `own`: as the run has left them
 */
export async function copyTrees(
  { directory, views, state }: PrivateView,
  which: 'base' | 'own',
  name: string,
  signal: AbortSignal,
): Promise<JudgeTrees> {
  const folder = join(directory, 'judge', name)
  const remove = (): Promise<void> => removeTree(folder)
  await remove()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    const copies = views.map(({ path }, index): View => ({ path, source: join(folder, `${index}`) }))
    for (const [index, { path, source }] of views.entries()) {
      const [from, to] = [which === 'base' ? path : source, copies[index]?.source ?? '']
      await copyOne(from, to, state.strategy === 'reflink' ? 'reflink' : 'copy', sessionsIn(from, directory), signal)
    }
    return { views: copies, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function copyOne(
  from: string,
  to: string,
  how: 'reflink' | 'copy',
  without: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    await copyTree(from, to, { how, without, signal })
  } catch (error) {
    if (how === 'copy' || !(error instanceof CopyRefusal)) throw error
    await removeTree(to)
    await copyTree(from, to, { how: 'copy', without, signal })
  }
}

/** Whether commands that start at a path of a copied tree really start in the copy: a run may have put a link in the place of a directory. */
export function isInCopy(path: string, views: readonly View[]): boolean {
  const view = views.find((each) => isInside(path, each.path))
  if (view === undefined) return true
  const place = view.source + path.slice(view.path.length)
  try {
    return realpathSync(place) === realpathSync(view.source) + path.slice(view.path.length)
  } catch {
    return false
  }
}

/** What is done with one change when a tree for a judge is put together. */
type PutTogether = {
  readonly part: (path: string) => JudgePart
  /** The tree of the base. */
  readonly base: string
  /** The copy of the run's tree. */
  readonly copy: string
}

/**
 * Puts the base's judge in place of the run's. What git ignores is as in the base as well, unless a package manager has installed it: built files must be
 * built from the base's tests. All changed files get the present time, so that tools build anew what depends on them.
 *
 * @returns the installed files that stay as the run has left them
 */
export function restoreJudge(changes: readonly RunChange[], { part, base, copy }: PutTogether): readonly string[] {
  const installed: string[] = []
  const now = new Date()
  for (const { path, after, ignored } of changes) {
    const what = part(path)
    const name = basename(path)
    if (after.type === 'directory') continue
    if (what === 'dependency' && !isOfBase(path, base, copy)) installed.push(path)
    else if (what === 'manifest') restoreManifest(path, name, base, copy)
    else if (what !== 'source' || ignored === true) restore(path, base, copy)
    const place = encodePath(join(copy, path))
    const stats = isReachable(path, copy) ? lstatSync(place, { throwIfNoEntry: false }) : undefined
    if (stats?.isFile() === true) lutimesSync(place, now, now)
  }
  return installed
}

/** Puts the base's git directory in place of the run's: what a command checks out must not be what the run has committed or added. */
export async function restoreGit(base: string, copy: string): Promise<void> {
  const [from, to] = [join(base, '.git'), join(copy, '.git')]
  const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isDirectory(from) || !isDirectory(to)) return
  await copyGit([{ from: Buffer.from(from), to: Buffer.from(to) }], () => undefined)
}

/** Puts the state that a path has in one tree into another tree. Never writes through a link. */
export function restore(path: string, from: string, to: string): void {
  const [source, target] = [encodePath(join(from, path)), encodePath(join(to, path))]
  const stats = isReachable(path, from) ? lstatSync(source, { throwIfNoEntry: false }) : undefined
  if (stats === undefined) {
    if (isReachable(path, to)) rmSync(target, { recursive: true, force: true })
    return
  }
  makeDirectories(dirname(path), to)
  rmSync(target, { recursive: true, force: true })
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(source, 'buffer'), target)
  else if (stats.isDirectory()) mkdirSync(target)
  else if (stats.isFile()) {
    const bytes = readHostFile(source, { maxBytes: largest })
    if (bytes === undefined) throw new Error(`${join(from, path)} can't be read`)
    writeFileSync(target, bytes, { mode: stats.mode & 0o777 })
  }
}

function restoreManifest(path: string, name: string, base: string, copy: string): void {
  const [before, after] = [base, copy].map((root) => textIn(root, path))
  const merged = before === undefined || after === undefined ? undefined : mergeManifest(name, before, after)
  // A manifest that is only in one of the trees has no judge to keep, except that a new one starts nothing that the base's command reaches.
  if (merged !== undefined) writeFileSync(encodePath(join(copy, path)), merged)
  else if (before !== undefined) restore(path, base, copy)
}

/** Whether an installed file belongs to the base: to a package that is still the same version, or to what starts programs. */
function isOfBase(path: string, base: string, copy: string): boolean {
  const folder = packageOf(path)
  if (folder === undefined) {
    const at = path.lastIndexOf('node_modules/')
    // Without any installed packages in the base, those of the run are all there are.
    const installed = at < 0 ? path : path.slice(0, at + 12)
    return lstatSync(encodePath(join(base, installed)), { throwIfNoEntry: false }) !== undefined
  }
  const [before, after] = [base, copy].map((root) => versionIn(textIn(root, `${folder}/package.json`)))
  return before !== undefined && before === after
}

function versionIn(text: string | undefined): unknown {
  try {
    return (JSON.parse(text ?? '{}') as { readonly version?: unknown }).version
  } catch {
    return undefined
  }
}

/** Reads a file in a tree as text; undefined if there is no such file, or a link is on the way to it. */
export function textIn(root: string, path: string): string | undefined {
  return isReachable(path, root)
    ? readHostFile(encodePath(join(root, path)), { maxBytes: 4 * 1024 * 1024 })?.toString()
    : undefined
}

/** Whether a tree has an entry at a path, to which no link leads. */
export function isIn(root: string, path: string): boolean {
  return isReachable(path, root) && lstatSync(encodePath(join(root, path)), { throwIfNoEntry: false }) !== undefined
}

function isReachable(path: string, root: string): boolean {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    if (lstatSync(encodePath(join(root, folder)), { throwIfNoEntry: false })?.isDirectory() !== true) return false
  }
  return true
}

function makeDirectories(folder: string, root: string): void {
  if (folder === '.') return
  makeDirectories(dirname(folder), root)
  const place = encodePath(join(root, folder))
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true) return
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place)
}
