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
import { basename, dirname, join, relative, resolve } from 'node:path'
import { encodePath, readHostFile, removeTree, TreeTooLarge, type View } from '../../../sandbox/index.ts'
import { isInside } from '../../core/directories-between.ts'
import { UserError } from '../../core/user-error.ts'
import { copyGit } from '../../transaction/copy-git.ts'
import { copyTree } from '../../transaction/copy-tree.ts'
import { CopyRefusal, type CopyLimit } from '../../transaction/copy-limit.ts'
import { isNoSpace } from '../../transaction/no-space.ts'
import { sessionsIn } from '../../transaction/private-view.ts'
import type { PrivateView } from '../../transaction/stored-view.ts'
import type { RunChange } from '../../transaction/change-record.ts'
import { installedIn, isSamePackage } from './installed-packages.ts'
import type { JudgePart } from './judge-parts.ts'
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
      const how = state.strategy === 'reflink' ? 'reflink' : 'copy'
      const limit = state.strategy === 'overlay' ? copyLimit : undefined
      const shown = which === 'base' ? state.shown : undefined
      await copyOne(from, to, how, { limit, without: sessionsIn(from, directory), shown, signal })
    }
    return { views: copies, remove }
  } catch (error) {
    await remove()
    throw refusalOf(error, directory)
  }
}

/** The maximum size of a tree that is copied for a judge although its view is no copy, but an overlay, which has the size of what the run writes. */
const copyLimit: CopyLimit = { files: 200_000, bytes: 2_000_000_000 }

function refusalOf(error: unknown, directory: string): unknown {
  const isLarge = error instanceof CopyRefusal || error instanceof TreeTooLarge
  if (!isLarge && !isNoSpace(error)) return error
  const why = isLarge ? error.message : `no space is left in ${directory}`
  const id = basename(directory)
  const remedy = isLarge
    ? 'Start a run with --view=copy, with which trees of any size are copied'
    : `Free some disk space, and continue with agent exec resume ${id}`
  const message =
    `The change can't be judged, because that needs a copy of the tree: ${why}. Nothing was landed. ` +
    `${remedy}; or look at the change and land it unjudged with agent apply ${id}.`
  return new UserError('failed', message, { cause: error })
}

async function copyOne(
  from: string,
  to: string,
  how: 'reflink' | 'copy',
  options: Omit<Parameters<typeof copyTree>[2], 'how'>,
): Promise<void> {
  try {
    await copyTree(from, to, { how, ...options })
  } catch (error) {
    if (how === 'copy' || !(error instanceof CopyRefusal)) throw error
    await removeTree(to)
    await copyTree(from, to, { how: 'copy', ...options })
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
  /** Whether the base's judge has shown tests, so that what starts programs there is all that it needs. */
  readonly needsNone: boolean
}

/**
 * Puts the base's judge in place of the run's. What git ignores is as in the base as well, unless a package manager has installed it: built files must be
 * built from the base's tests. All changed files get the present time, so that tools build anew what depends on them.
 *
 * @returns the installed files that stay as the run has left them
 */
export function restoreJudge(changes: readonly RunChange[], trees: PutTogether): readonly string[] {
  const { part, base, copy } = trees
  const installed: string[] = []
  const now = new Date()
  for (const { path, after, ignored } of changes) {
    const what = part(path)
    const name = basename(path)
    if (after.type === 'directory') continue
    if (what === 'dependency' && !isOfBase(path, trees)) installed.push(path)
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
  const exists = (each: string): boolean => isIn(copy, join(dirname(path), each))
  const merged = before === undefined || after === undefined ? undefined : mergeManifest(name, before, after, exists)
  // A manifest that is only in one of the trees has no judge to keep, except that a new one starts nothing that the base's command reaches.
  if (merged !== undefined) writeFileSync(encodePath(join(copy, path)), merged)
  else if (before !== undefined) restore(path, base, copy)
}

/** Whether an installed file belongs to the base: to a package that is still the same version, or to what starts programs. */
function isOfBase(path: string, { base, copy, needsNone }: PutTogether): boolean {
  const read = (root: string) => (each: string) => textIn(root, each)
  const isSame = isSamePackage(path, read(base), read(copy))
  if (isSame !== undefined) return isSame
  // Without any installed packages in the base, those of the run are all there are.
  const folder = installedIn(path, (each) => [base, copy].some((root) => isIn(root, each)))
  if (folder === undefined || !folder.endsWith('node_modules')) return isIn(base, path)
  return needsNone || isIn(base, folder)
}

/** Reads a file in a tree as text; undefined if there is no such file, or a link is on the way to it. */
export function textIn(root: string, path: string): string | undefined {
  return isReachable(path, root)
    ? readHostFile(encodePath(join(root, path)), { maxBytes: 4 * 1024 * 1024 })?.toString()
    : undefined
}

/** The path, relative to the root, to which a link in a tree leads; undefined if there is no link, or if it leads out of the tree. */
export function linkIn(root: string, path: string): string | undefined {
  const place = encodePath(join(root, path))
  if (!isReachable(path, root) || lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true)
    return undefined
  const target = relative(root, resolve(root, dirname(path), readlinkSync(place)))
  return target.startsWith('..') ? undefined : target
}

/** What changes when a file in a tree is written, even if it gets its old content and times again. */
export function statesOf(root: string, paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    paths.map((path) => {
      const stats = lstatSync(encodePath(join(root, path)), { bigint: true, throwIfNoEntry: false })
      return [path, stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.ctimeNs}`]
    }),
  )
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
