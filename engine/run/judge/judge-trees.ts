import { chmodSync, lstatSync, mkdirSync, realpathSync, statSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  keyFilesIn,
  makeWhiteout,
  mountsBelow,
  removeTree,
  TreeTooLarge,
  type SandboxPolicy,
  type View,
} from '../../../sandbox/index.ts'
import { pathOfKey } from '../../core/changes/list-files.ts'
import { isInside } from '../../core/directories-between.ts'
import { UserError } from '../../core/user-error.ts'
import { CopyRefusal, type CopyLimit } from '../../transaction/copy-limit.ts'
import { copyTree } from '../../transaction/copy-tree.ts'
import { filesIn } from '../../transaction/files-in.ts'
import { isNoSpace } from '../../transaction/no-space.ts'
import { copyGitOf } from '../../transaction/overlay/storage.ts'
import { isText } from '../../transaction/path-keys.ts'
import { sessionsIn } from '../../transaction/private-view.ts'
import { findSecretFiles } from '../../transaction/secret-files.ts'
import { viewFolder, type PrivateView } from '../../transaction/stored-view.ts'
import { JudgeTree } from './judge-tree.ts'

/** Throw-away trees with what the base has in all trees of a view. Commands see them at the paths of the trees. */
export type JudgeTrees = {
  readonly trees: readonly JudgeTree[]
  readonly views: readonly View[]
  readonly remove: () => Promise<void>
}

/** What is left out of layers over the trees of a view: for each tree, the keys of its files with secrets. */
export type Withheld = readonly (readonly string[])[]

/**
 * Finds out whether commands can see layers over the trees of a view, of which nothing has to be copied.
 *
 * @returns what is left out of them; undefined if the trees must be copied, because the sandbox would have to look into them
 */
export async function withheldFromLayers(
  { directory, views, state }: PrivateView,
  policy: SandboxPolicy,
): Promise<Withheld | undefined> {
  const { deniedReads, unixSockets, dockerSocket } = policy
  if (unixSockets || dockerSocket !== undefined) return undefined
  const isWithin = (path: string): boolean => path.startsWith('**/') || views.some((view) => isInside(path, view.path))
  if (deniedReads.some(isWithin)) return undefined
  const withheld: (readonly string[])[] = []
  for (const { path } of views) {
    if (sessionsIn(path, directory) !== undefined || mountsBelow(path).length > 0) return undefined
    const { files, links, hasRepositories } = await filesIn(path)
    const secrets = state.shown && (await findSecretFiles(path, [...files, ...links], state.shown))
    const keys = [...(secrets ?? [])]
    if (hasRepositories || !keys.every(isText)) return undefined
    withheld.push(keys)
  }
  return withheld
}

/** Makes layers over the trees of a view. `roots`: the directories of the policy, which must be in them. */
export async function makeLayers(
  { directory, views }: PrivateView,
  roots: readonly string[],
  withheld: Withheld,
): Promise<JudgeTrees> {
  const { folder, remove } = await emptyFolder(directory)
  try {
    const whiteout = join(folder, 'whiteout')
    makeWhiteout(whiteout)
    const trees: JudgeTree[] = []
    for (const [index, { path }] of views.entries()) {
      const storage = join(folder, `${index}`)
      const source = join(storage, 'upper')
      mkdirSync(join(storage, 'work'), { recursive: true, mode: 0o700 })
      mkdirSync(source)
      const tree = new JudgeTree({ path, source, over: path, overlay: true }, whiteout)
      for (const key of withheld[index] ?? []) tree.remove(pathOfKey(key))
      const own = [path, ...roots.filter((root) => isInside(root, path))]
      for (const root of own) {
        tree.makeDirectory(root.slice(path.length + 1))
        for (const file of keyFilesIn(root)) {
          const name = file.path.slice(path.length + 1)
          if (file.shown === undefined) tree.remove(name)
          else tree.writeFile(name, Buffer.from(file.shown, 'latin1'), 0o644)
        }
      }
      if (lstatSync(join(path, '.git'), { throwIfNoEntry: false }) !== undefined)
        await copyGitOf(path, join(source, '.git'), join(storage, 'index'))
      const { mode, atime, mtime } = statSync(path)
      chmodSync(source, mode & 0o777)
      utimesSync(source, atime, mtime)
      trees.push(tree)
    }
    return { trees, views: trees.map(({ view }) => view), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Copies the trees of a view. */
export async function copyTrees({ directory, views, state }: PrivateView, signal: AbortSignal): Promise<JudgeTrees> {
  const { folder, remove } = await emptyFolder(directory)
  try {
    const trees: JudgeTree[] = []
    for (const [index, { path }] of views.entries()) {
      const source = join(folder, `${index}`)
      const how = state.strategy === 'reflink' ? 'reflink' : 'copy'
      const limit = state.strategy === 'overlay' ? copyLimit : undefined
      await copyOne(path, source, how, { limit, without: sessionsIn(path, directory), shown: state.shown, signal })
      trees.push(new JudgeTree({ path, source }))
    }
    return { trees, views: trees.map(({ view }) => view), remove }
  } catch (error) {
    await remove()
    throw refusalOf(error, directory)
  }
}

/** An empty folder for the trees of one run of a command. What one that was killed has left is removed here, or with the view. */
async function emptyFolder(directory: string) {
  const folder = join(viewFolder(directory), 'judge')
  const remove = (): Promise<void> => removeTree(folder)
  await remove()
  mkdirSync(folder, { mode: 0o700 })
  return { folder, remove }
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

/** Whether commands that start at a path of a tree really start in it: a run may have put a link in the place of a directory. */
export function isInTree(path: string, views: readonly View[]): boolean {
  const view = views.find((each) => isInside(path, each.path))
  if (view === undefined) return true
  const place = view.source + path.slice(view.path.length)
  try {
    return realpathSync(place) === realpathSync(view.source) + path.slice(view.path.length)
  } catch {
    return false
  }
}
