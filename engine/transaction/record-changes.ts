import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { protectingPlaces, readCheckedOut, type Sandbox } from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { hasOwnObjects } from './copy-git.ts'
import { nestedGit } from './linked-git.ts'
import { readBlob } from './read-blob.ts'
import { readRecord, removeRecord, writeRecord, type ChangeRecord, type RunChange, type Side } from './change-record.ts'
import { keepBytes, keepFile } from './kept-files.ts'
import { isNoSpace, noRoomFor } from './no-space.ts'
import { findDifferences, type Difference, type Entry } from './find-differences.ts'
import { stampOf, type Manifest, type Original } from './view-manifest.ts'
import { below, bytesOf } from './path-keys.ts'
import { whyNotText } from './blocked-changes.ts'
import { ignoredAmong, withoutEmptied } from './ignored-among.ts'
import { findOverlayDifferences } from './overlay/find-overlay-differences.ts'
import { statsOf } from './tree-files.ts'
import type { PrivateView } from './private-view.ts'
import { noteGathered } from './view-state.ts'

/** One tree of a view. */
type Tree = { readonly path: string; readonly source: string; readonly manifest: Manifest }

/**
 * Finds out what a run changed in its view, and records it: the changes that can land, with the bytes before and after, and only the names or the
 * number of all other changes. Call it only when no command is running.
 *
 * @param sandbox the run's sandbox, for git and for the list of protected paths
 * @param withIgnored whether files that git ignores are treated like all others
 * @throws UserError `failed` if no space is left to store the record
 */
export async function recordChanges(view: PrivateView, sandbox: Sandbox, withIgnored: boolean): Promise<ChangeRecord> {
  const isFirst = readRecord(view.directory) === undefined
  try {
    return await gatherChanges(view, sandbox, withIgnored)
  } catch (error) {
    if (!isNoSpace(error)) throw error
    // An incomplete record is useless, and the session needs space to record its own end. The bytes of an earlier record stay, because merges may
    // need them.
    if (isFirst) removeRecord(view.directory)
    throw noRoomFor(view.directory, error)
  }
}

async function gatherChanges(view: PrivateView, sandbox: Sandbox, withIgnored: boolean): Promise<ChangeRecord> {
  const [changes, protectedPaths, special]: [RunChange[], string[], string[]] = [[], [], []]
  const blocked: ChangeRecord['blocked'][number][] = []
  const repositories: ChangeRecord['repositories'][number][] = []
  const ignored = { files: 0, bytes: 0 }
  const earlier = knownBefore(view.directory)
  for (const { path, source, git, find } of treesOf(view)) {
    const { differences: found, manifest } = await find((key, kept) => {
      const inTree = key === '' ? '' : pathOfKey(key)
      repositories.push({ path: join(path, inTree), kept: kept ?? join(source, inTree) })
    })
    const nested = nestedGit(path, git)
    for (const { path: at, kept, host } of nested) {
      const isSame = readCheckedOut(kept)?.commit === readCheckedOut(host)?.commit
      if (!isSame && hasOwnObjects(Buffer.from(kept.common))) repositories.push({ path: at, kept: kept.own })
    }
    // The `.git` files of nested work trees and submodules point to the private git directory. These pointers are not changes that the run made.
    const pointers = new Set(nested.map((each) => join(each.path, '.git')))
    const all = found.filter(({ key }) => !pointers.has(join(path, pathOfKey(key))))
    const tree: Tree = { path, source, manifest }
    const overlooked = await ignoredAmong(
      all,
      tree,
      nested.map((each) => each.path),
      sandbox,
    )
    const counted = withIgnored ? all : all.filter(({ key }) => !overlooked.has(key))
    for (const { after, before, key } of all) {
      if (!overlooked.has(key) || after.kind === 'directory' || before.kind === 'directory') continue
      ignored.files += 1
      ignored.bytes += after.kind === 'file' ? after.size : 0
    }
    const protects = protectingPlaces(sandbox.policy, [path])
    for (const difference of withoutEmptied(counted, all, overlooked)) {
      const { key, after } = difference
      const name = join(path, pathOfKey(key))
      if (after.kind === 'other') special.push(name)
      else if (protects(name) !== undefined) protectedPaths.push(name)
      else {
        const why = whyNotText(key, after.kind === 'link' ? after.target : undefined)
        if (why !== undefined) {
          blocked.push({ path: name, why })
          continue
        }
        const change = await changeOf(difference, tree, view.directory, sandbox, earlier)
        if (change !== undefined) changes.push(change)
      }
    }
  }
  const record: ChangeRecord = {
    version: 1,
    at: new Date().toISOString(),
    changes,
    ignored,
    protected: protectedPaths,
    special,
    repositories,
    blocked,
  }
  writeRecord(view.directory, record)
  noteGathered(view.directory, true)
  return record
}

type FoundInTree = { readonly differences: readonly Difference[]; readonly manifest: Manifest }

/**
 * Yields each tree of a view with a function `find`, which finds the tree's differences. `find` calls `repository` for each repository in which objects were
 * created, with the directory `kept` that contains the objects if they aren't in the view itself.
 */
function* treesOf({ views, manifests, overlays }: PrivateView): Iterable<
  Omit<Tree, 'manifest'> & {
    /** The path of the private git directory, which exists only if the tree has a git directory. */
    readonly git: string
    readonly find: (repository: (key: string, kept?: string) => void) => Promise<FoundInTree>
  }
> {
  const known = manifests()
  for (const [index, { path, source }] of views.entries()) {
    const storage = overlays[index]
    const manifest = known[index] ?? new Map<string, Original>()
    yield {
      path,
      source,
      git: join(storage?.repository ?? source, '.git'),
      find: async (repository) =>
        storage === undefined
          ? {
              manifest,
              differences: await findDifferences(source, manifest, (key) => {
                if (hasOwnObjects(bytesOf(source, below(key, '.git')))) repository(key)
              }),
            }
          : findOverlayDifferences({ lower: path, merged: source, storage }, (key) => {
              // A repository that the run created is complete in the upper directory, which exists even when the overlay isn't mounted.
              const isMade = !existsSync(bytesOf(path, below(key, '.git')))
              repository(
                key,
                key === '' ? storage.repository : isMade ? join(storage.upper, pathOfKey(key)) : undefined,
              )
            }),
    }
  }
}

/**
 * Returns the hashes of files' original contents from the previous record, by path. They can be trusted: when that record was made, nobody else had
 * written to these files, or git still had their original contents.
 */
function knownBefore(directory: string): ReadonlyMap<string, string> {
  const changes = readRecord(directory)?.changes ?? []
  return new Map(
    changes.flatMap(({ root, path, before }) =>
      before.type === 'file' && before.hash !== null ? [[join(root, path), before.hash] as const] : [],
    ),
  )
}

/**
 * Converts a difference to a change, with the hashes of its contents.
 *
 * @returns undefined if the two sides turn out to be the same
 */
async function changeOf(
  { key, before, after }: Difference,
  tree: Tree,
  directory: string,
  sandbox: Sandbox,
  earlier: ReadonlyMap<string, string>,
): Promise<RunChange | undefined> {
  const now = sideOf(after, () => keepFile(directory, bytesOf(tree.source, key)))
  const was = sideOf(before, () => undefined)
  const old =
    was.type === 'file'
      ? {
          ...was,
          hash:
            (await hashBefore(key, tree, directory, sandbox)) ?? earlier.get(join(tree.path, pathOfKey(key))) ?? null,
        }
      : was
  return isDeepStrictEqual(old, now) ? undefined : { root: tree.path, path: pathOfKey(key), before: old, after: now }
}

function sideOf(entry: Entry, keep: () => ReturnType<typeof keepFile>): Side {
  switch (entry.kind) {
    case 'absent':
    case 'other':
      return { type: 'absent' }
    case 'link':
      return { type: 'symlink', target: pathOfKey(entry.target) }
    case 'directory':
      return { type: 'directory', mode: entry.mode, ...(entry.was && { was: entry.was }) }
    case 'file': {
      const { mode, size } = entry
      return { type: 'file', mode, ...(keep() ?? { size, hash: null }) }
    }
    default:
      return entry satisfies never
  }
}

/**
 * Returns the hash of the content that a file had when the view was made: of its current content if nobody has written to the file since, otherwise
 * of the content of the git object. Returns null if the original content is unknown.
 */
async function hashBefore(
  key: string,
  { path, manifest }: Tree,
  directory: string,
  sandbox: Sandbox,
): Promise<string | null> {
  const original = manifest.get(key)
  if (original?.kind !== 'file') return null
  const file = bytesOf(path, key)
  const isAsItWas = (): boolean => {
    const stats = statsOf(file)
    return stats !== undefined && stampOf(stats) === original.was
  }
  if (isAsItWas()) {
    const kept = keepFile(directory, file)
    if (kept !== undefined && isAsItWas()) return kept.hash
  }
  if (original.blob === undefined) return null
  const bytes = await readBlob(original.blob, { sandbox, cwd: path })
  // If a git filter changes files on checkout, the bytes of the object differ from those of the file. Usually, a different size reveals this.
  return bytes?.length === original.size ? keepBytes(directory, bytes) : null
}
