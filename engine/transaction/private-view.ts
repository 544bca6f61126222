import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { areMounted, removeTree, type Overlays, type View } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { CopyRefusal, copyTree, type CopyLimit } from './copy-tree.ts'
import { noteHeads } from './heads.ts'
import { linkedGitOf } from './linked-git.ts'
import { isNoSpace } from './no-space.ts'
import { readManifest, writeManifest, type Manifest } from './view-manifest.ts'
import { makeOverlayStorage, overlaysOf, overlayStorage, type OverlayStorage } from './overlay/storage.ts'

/** The ways to make a view that a user can choose. */
const strategies = ['copy', 'reflink', 'overlay'] as const
export type Strategy = (typeof strategies)[number]

/** The size that is copied without being asked. */
export const unaskedLimit: CopyLimit = { files: 50_000, bytes: 1_000_000_000 }

const state = z.object({
  version: z.literal(1),
  strategy: z.enum(strategies),
  /** ISO 8601. */
  began: z.string(),
  roots: z.array(z.object({ path: z.string(), source: z.string() })).min(1),
  /** `making`: the view is not whole, and nobody has worked in it. `open`: nothing was landed. `landed`: what there was to land is in the tree. `discarded`: the view is gone. */
  state: z.enum(['making', 'open', 'landed', 'discarded']),
  /** Whether what is in the view is on record, so that no run has worked in it since. */
  gathered: z.boolean(),
  /** The id of the landing for `undo`, and its tree. */
  landing: z
    .object({
      id: z.string(),
      root: z.string(),
      at: z.string(),
      can_undo: z.boolean(),
      undone: z.boolean(),
      /** What a user should know of it. */
      notes: z.array(z.string()).optional(),
      /** It was about to happen: whether it did, the journals of the tree say. `all`: nothing else was left to land. */
      begun: z.object({ all: z.boolean() }).optional(),
    })
    .optional(),
  /** Commits that were taken into the repositories, and what `undo` has to take back of that. */
  commits: z
    .array(
      z.object({
        path: z.string(),
        ref: z.string(),
        commit: z.string(),
        moved: z.object({ branch: z.string(), old: z.string().optional() }).optional(),
        stayed: z.string().optional(),
      }),
    )
    .optional(),
})

/** The state of a session's view. */
export type ViewState = z.infer<typeof state>

/** A session's private view of its trees. */
export type PrivateView = {
  /** The session's own directory. */
  readonly directory: string
  readonly state: ViewState
  readonly views: readonly View[]
  /** What the view of each tree was made from, in their order; nothing for an overlay, which lies above it. */
  readonly manifests: () => readonly Manifest[]
  /** Where the overlay of each tree is kept, in their order; nothing for a copy. */
  readonly overlays: readonly OverlayStorage[]
}

const stateFile = (directory: string): string => join(directory, 'transaction.json')
const viewFolder = (directory: string): string => join(directory, 'view')

/** The state of a session's view; undefined for a session without one. */
export function readViewState(directory: string): ViewState | undefined {
  const file = stateFile(directory)
  if (!existsSync(file)) return undefined
  try {
    return state.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const message = `${file}: what became of this run's changes can't be read: ${(error as Error).message}`
    throw new UserError('usage', message, { cause: error })
  }
}

/** Stores the state atomically. */
export function writeViewState(directory: string, now: ViewState): void {
  const file = stateFile(directory)
  writeFileSync(`${file}.new`, `${JSON.stringify(now, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** The view of a session as it was left; undefined where it can't be continued. */
export function reopenView(directory: string): PrivateView | undefined {
  const known = readViewState(directory)
  return known?.state === 'open' && existsSync(viewFolder(directory)) ? asView(directory, known) : undefined
}

/** Records whether a view's contents have been recorded: not while a run works in it. */
export function noteGathered(directory: string, gathered: boolean): void {
  const known = readViewState(directory)
  if (known !== undefined && known.gathered !== gathered) writeViewState(directory, { ...known, gathered })
}

function asView(directory: string, known: ViewState): PrivateView {
  const isOverlay = known.strategy === 'overlay'
  return {
    directory,
    state: known,
    views: isOverlay ? known.roots.map((root) => ({ ...root, overlay: true })) : known.roots,
    manifests: () => (isOverlay ? [] : known.roots.map((_, index) => readManifest(manifestFile(directory, index)))),
    overlays: isOverlay ? known.roots.map((_, index) => overlayStorage(viewFolder(directory), index)) : [],
  }
}

/** What is to be mounted for the view of a session; undefined for one that is none of overlays. */
export function overlaysOfView(directory: string, { strategy, roots }: ViewState): Overlays | undefined {
  return strategy === 'overlay' ? overlaysOf(directory, viewFolder(directory), roots.length) : undefined
}

/**
 * Prepares the view of a session by overlays, to be mounted in a namespace. Until `openOverlays` it isn't there.
 *
 * @param paths the trees, real and none in another
 * @throws UserError `sandboxUnavailable` for a tree whose `.git` leads to no repository of it
 */
export async function prepareOverlays(directory: string, paths: readonly string[]): Promise<Overlays> {
  for (const path of paths) linkedGitOf(path)
  setAside(directory)
  const folder = viewFolder(directory)
  await removeTree(folder)
  mkdirSync(folder, { mode: 0o700 })
  const overlays = overlaysOf(directory, folder, paths.length)
  const roots = paths.map((path, index) => ({ path, source: overlays.mounts[index] ?? '' }))
  const now = { version: 1, strategy: 'overlay', began: new Date().toISOString(), roots, gathered: false } as const
  writeViewState(directory, { ...now, state: 'making' })
  noteHeads(directory, paths)
  makeOverlayStorage(folder, paths)
  return overlays
}

/** The view that was prepared for a session, whose overlays are mounted now; undefined where they are not. */
export function openOverlays(directory: string): PrivateView | undefined {
  const known = readViewState(directory)
  const overlays = known && overlaysOfView(directory, known)
  if (known?.state !== 'making' || overlays === undefined || !areMounted(overlays.mounts)) return undefined
  const opened: ViewState = { ...known, state: 'open' }
  writeViewState(directory, opened)
  return asView(directory, opened)
}

/**
 * Makes the view of a session.
 *
 * @param paths the trees, real and none in another
 * @param asked the way to make it. Undefined: by sharing blocks where the file system can, else by a copy of what is not too large
 * @param noOverlay why there are no overlays, which would do for a tree of any size
 * @throws UserError `sandboxUnavailable` where it can't be made so, with what would help
 */
export async function makeView(
  directory: string,
  paths: readonly string[],
  asked: Strategy | undefined,
  noOverlay: string,
): Promise<PrivateView> {
  for (const path of paths) linkedGitOf(path)
  if (asked === 'overlay') throw refusalOf(new CopyRefusal('no-overlay', noOverlay), directory, noOverlay)
  setAside(directory)
  const ways = asked === undefined ? (['reflink', 'copy'] as const) : [asked]
  for (const how of ways) {
    await removeTree(viewFolder(directory))
    mkdirSync(viewFolder(directory), { mode: 0o700 })
    try {
      return await makeWith(directory, paths, how, asked === undefined && how === 'copy' ? unaskedLimit : undefined)
    } catch (error) {
      const isLast = how === ways.at(-1)
      if (error instanceof CopyRefusal && error.why === 'no-clones' && !isLast) continue
      await removeTree(viewFolder(directory))
      throw refusalOf(error, directory, noOverlay)
    }
  }
  throw new TypeError('each way ends in a view or a refusal')
}

async function makeWith(
  directory: string,
  paths: readonly string[],
  how: 'copy' | 'reflink',
  limit: CopyLimit | undefined,
): Promise<PrivateView> {
  const roots = paths.map((path, index) => ({ path, source: join(viewFolder(directory), `${index}`) }))
  const making = { version: 1, strategy: how, began: new Date().toISOString(), roots, gathered: false } as const
  // Where this is cut off, the session is still one that works on a view.
  writeViewState(directory, { ...making, state: 'making' })
  noteHeads(directory, paths)
  for (const [index, { path, source }] of roots.entries()) {
    writeManifest(manifestFile(directory, index), await copyTree(path, source, { how, limit }))
  }
  const began: ViewState = { ...making, state: 'open' }
  writeViewState(directory, began)
  return asView(directory, began)
}

/** A view that was kept after a landing contains what did not land; a new one is made next to it. */
function setAside(directory: string): void {
  if (readViewState(directory)?.state !== 'landed' || !existsSync(viewFolder(directory))) return
  let number = 1
  while (existsSync(`${viewFolder(directory)}-${number}`)) number += 1
  renameSync(viewFolder(directory), `${viewFolder(directory)}-${number}`)
}

/** Throws away what all views of a session are kept in. What there is to say of its changes stays. */
export async function removeViews(directory: string): Promise<void> {
  const names = readdirSync(directory).filter((name) => /^view(?:-\d+)?$/.test(name))
  for (const name of names) await removeTree(join(directory, name))
}

/** Throws away what a session's last view is kept in. What there is to say of its changes stays. */
export async function removeView(directory: string): Promise<void> {
  await removeTree(viewFolder(directory))
}

function manifestFile(directory: string, index: number): string {
  return join(viewFolder(directory), `made-from-${index}.jsonl`)
}

function refusalOf(error: unknown, directory: string, noOverlay: string): unknown {
  if (error instanceof CopyRefusal) {
    const remedy =
      error.why === 'no-clones'
        ? '--transactional=copy works on every file system'
        : '--transactional=copy copies a tree of any size'
    const overlay = error.why === 'large' ? `. An overlay is not possible: ${noOverlay}` : ''
    const message = `No private view for --transactional: ${error.message}${overlay}. ${remedy}.`
    return new UserError('sandboxUnavailable', message)
  }
  if (!isNoSpace(error)) return error
  const message =
    `No private view for --transactional: no space is left where it is kept, in ${directory}. ` +
    'Make room, or set XDG_STATE_HOME to a folder with more.'
  return new UserError('sandboxUnavailable', message, { cause: error })
}
