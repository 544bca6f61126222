import { mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { areMounted, removeTree, TreeTooLarge, type Overlays } from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { isInside } from '../core/directories-between.ts'
import { UserError } from '../core/user-error.ts'
import type { LockedFolder } from '../session/session-lock.ts'
import { CopyRefusal, type CopyLimit } from './copy-limit.ts'
import { copyTree } from './copy-tree.ts'
import { noteHeads } from './heads.ts'
import { linkedGitOf } from './linked-git.ts'
import { isNoSpace } from './no-space.ts'
import { setAside } from './remove-view.ts'
import { asView, manifestFile, overlaysOfView, viewFolder, type PrivateView } from './stored-view.ts'
import { leftOutIn, writeManifest } from './view-manifest.ts'
import { landedBefore, readViewState, writeViewState, type Strategy, type ViewState } from './view-state.ts'
import { makeOverlayStorage, overlaysOf, overlayStorage } from './overlay/storage.ts'

/** The maximum size of a tree that is copied even though the user has not asked for a copy. */
export const unaskedLimit: CopyLimit = { files: 50_000, bytes: 1_000_000_000 }

/**
 * Prepares a session's view that consists of overlays. They will be mounted in a namespace, and `openOverlays` then opens the view.
 *
 * @param paths the real paths of the trees, none inside another
 * @param shown the absolute paths that are shown even if files there hold secrets
 * @throws UserError `sandboxUnavailable` for a tree whose `.git` names no repository that refers back to it
 */
export async function prepareOverlays(
  directory: LockedFolder,
  paths: readonly string[],
  shown: readonly string[] = [],
): Promise<Overlays> {
  for (const path of paths) linkedGitOf(path)
  await setAside(directory)
  const folder = viewFolder(directory)
  await removeTree(folder)
  mkdirSync(folder, { mode: 0o700 })
  const overlays = overlaysOf(directory, folder, paths.length)
  const roots = paths.map((path, index) => ({ path, source: overlays.mounts[index] ?? '' }))
  const now = {
    version: 1,
    strategy: 'overlay',
    began: new Date().toISOString(),
    roots,
    shown: [...shown],
    ...landedBefore(directory),
  } as const
  writeViewState(directory, { ...now, state: 'making' })
  try {
    await makeOverlayStorage(folder, paths)
  } catch (error) {
    throw error instanceof TreeTooLarge ? tooLarge(error, '') : error
  }
  const gitOf = (number: number): string => join(overlayStorage(folder, number).repository, '.git')
  noteHeads(
    directory,
    paths.map((path, number) => ({ path, git: gitOf(number), nested: [] })),
  )
  return overlays
}

/** Opens a session's prepared view after its overlays have been mounted; undefined if there is no such view, or they aren't mounted. */
export function openOverlays(directory: LockedFolder): PrivateView | undefined {
  const known = readViewState(directory)
  const overlays = known && overlaysOfView(directory, known)
  if (known?.state !== 'making' || overlays === undefined || !areMounted(overlays.mounts)) return undefined
  const opened: ViewState = { ...known, state: 'open' }
  writeViewState(directory, opened)
  return asView(directory, opened)
}

/** Records more about a view: which files it leaves out, or what a run can write to and is judged by. */
export function noteInView(
  view: PrivateView,
  more: Pick<ViewState, 'not_shown' | 'writable' | 'judged_by'>,
): PrivateView {
  const state: ViewState = { ...view.state, ...more }
  writeViewState(view.directory, state)
  return { ...view, state }
}

/**
 * Creates the view of a session.
 *
 * @param paths the real paths of the trees, none inside another
 * @param asked the strategy that the user chose. Undefined: blocks are shared if the file system supports that; otherwise the trees are copied if they are not
 * too large
 * @param noOverlay why overlays, which work for trees of any size, can't be used
 * @param shown the absolute paths that are shown even if files there hold secrets
 * @throws UserError `sandboxUnavailable` if the view can't be made, with advice
 */
export async function makeView(
  directory: LockedFolder,
  paths: readonly string[],
  asked: Strategy | undefined,
  noOverlay: string,
  shown: readonly string[] = [],
): Promise<PrivateView> {
  for (const path of paths) linkedGitOf(path)
  if (asked === 'overlay') throw refusalOf(new CopyRefusal('no-overlay', noOverlay), directory, noOverlay)
  await setAside(directory)
  const ways = asked === undefined ? (['reflink', 'copy'] as const) : [asked]
  for (const how of ways) {
    await removeTree(viewFolder(directory))
    mkdirSync(viewFolder(directory), { mode: 0o700 })
    try {
      const limit = asked === undefined && how === 'copy' ? unaskedLimit : undefined
      return await makeWith(directory, paths, shown, how, limit)
    } catch (error) {
      const isLast = how === ways.at(-1)
      if (error instanceof CopyRefusal && error.why === 'no-clones' && !isLast) continue
      await removeTree(viewFolder(directory))
      throw refusalOf(error, directory, noOverlay)
    }
  }
  throw new TypeError('every strategy must end in a view or a refusal')
}

async function makeWith(
  directory: LockedFolder,
  paths: readonly string[],
  shown: readonly string[],
  how: 'copy' | 'reflink',
  limit: CopyLimit | undefined,
): Promise<PrivateView> {
  const roots = paths.map((path, index) => ({ path, source: join(viewFolder(directory), `${index}`) }))
  const making = {
    version: 1,
    strategy: how,
    began: new Date().toISOString(),
    roots,
    shown: [...shown],
    ...landedBefore(directory),
  } as const
  // The state is written first, so that the session is known to be a transaction even if making the view is interrupted.
  writeViewState(directory, { ...making, state: 'making' })
  const made: Parameters<typeof noteHeads>[1][number][] = []
  const notShown: string[] = []
  for (const [index, { path, source }] of roots.entries()) {
    const nested: { readonly path: string; readonly git: string }[] = []
    const repository = (key: string): void => {
      const at = pathOfKey(key)
      nested.push({ path: join(path, at), git: join(source, at, '.git') })
    }
    const without = sessionsIn(path, directory)
    const manifest = await copyTree(path, source, { how, limit, repository, shown, without })
    writeManifest(manifestFile(directory, index), manifest)
    notShown.push(...leftOutIn(path, manifest, 'secret'))
    made.push({ path, git: join(source, '.git'), nested })
  }
  noteHeads(directory, made)
  const began: ViewState = { ...making, state: 'open', not_shown: notShown }
  writeViewState(directory, began)
  return asView(directory, began)
}

/** The folder of all sessions, or at least of this one, if a tree contains it: a view must not contain itself, or views of other sessions. */
export function sessionsIn(tree: string, directory: string): string | undefined {
  const real = realpathSync(directory)
  return [dirname(real), real].find((folder) => folder !== tree && isInside(folder, tree))
}

function refusalOf(error: unknown, directory: string, noOverlay: string): unknown {
  if (error instanceof CopyRefusal) {
    const remedy =
      error.why === 'no-clones'
        ? 'Use --view=copy, which works on every file system'
        : 'Use --view=copy, which copies a tree of any size, or --in-place, which works without a view'
    const overlay = error.why === 'large' ? `. An overlay can't be used either: ${noOverlay}` : ''
    const message = `The run's private view can't be made: ${error.message}${overlay}. ${remedy}.`
    return new UserError('sandboxUnavailable', message)
  }
  if (error instanceof TreeTooLarge) return tooLarge(error, '--view=overlay, which copies no files, or ')
  if (!isNoSpace(error)) return error
  const message =
    `The run's private view can't be made: no space is left in ${directory}, where the view is stored. ` +
    'Make room, or set XDG_STATE_HOME to a folder with more space.'
  return new UserError('sandboxUnavailable', message, { cause: error })
}

function tooLarge(cause: TreeTooLarge, otherwise: string): UserError {
  const remedy = `Use ${otherwise}--in-place, which works without a view`
  return new UserError('sandboxUnavailable', `The run's private view can't be made: ${cause.message}. ${remedy}.`, {
    cause,
  })
}
