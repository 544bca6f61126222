import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import {
  encodePath,
  openTreeBudget,
  protectingPlaces,
  treeBounds,
  TreeTooLarge,
  type GitDirectories,
  type Sandbox,
  type TreeBounds,
} from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { isInside } from '../core/directories-between.ts'
import { privateGitOf } from './find-private-git.ts'
import { notedTrees } from './heads.ts'
import { openRemaking } from './made-repositories.ts'
import { nestedGit } from './linked-git.ts'
import { readRecord, removeRecord, writeRecord, type ChangeRecord, type RunChange } from './change-record.ts'
import { lookThrough, type Look } from './look-through.ts'
import { isNoSpace, noRoomFor, tooMuchIn } from './no-space.ts'
import { changedRepository } from './changed-repository.ts'
import { leftOutIn } from './view-manifest.ts'
import { keyIn } from './path-keys.ts'
import { whyBlocked } from './blocked-changes.ts'
import { readMergeRules } from './merge-rules.ts'
import { ignoredAmong, withoutEmptied } from './ignored-among.ts'
import { protectInView } from './protected-in-view.ts'
import { treesOf } from './trees-of-view.ts'
import type { PrivateView } from './stored-view.ts'
import { changeOf, knownBefore, type Tree } from './read-change.ts'

/** How much of a view is looked through, and how many changes one landing can have. */
export type RecordBounds = { readonly tree: TreeBounds; readonly changes: TreeBounds }

/** A landing holds all of its changes in memory, about 5 kB for each. */
const recordBounds: RecordBounds = {
  tree: treeBounds,
  changes: { ...treeBounds, entries: 250_000, bytes: 64 * 1024 * 1024 },
}

/**
 * Finds out what a run changed in its view, and records it: the changes that can land, with the bytes before and after, and only the names or the
 * number of all other changes. Call it only when no command is running.
 *
 * @param sandbox the run's sandbox, for git and for the list of protected paths
 * @param withIgnored whether files that git ignores are treated like all others. Default: as the run wished
 * @throws UserError `failed` if no space is left to store the record, or if there is more to look through or to record than the bounds allow
 */
export async function recordChanges(
  view: PrivateView,
  sandbox: Sandbox,
  withIgnored = view.state.judged_by?.with_ignored !== false,
  bounds: RecordBounds = recordBounds,
): Promise<ChangeRecord> {
  const isFirst = readRecord(view.directory) === undefined
  let look: Look | undefined
  try {
    look = await lookThrough(view, bounds.tree)
    return await gatherChanges(view, look, sandbox, withIgnored, bounds)
  } catch (error) {
    if (error instanceof TreeTooLarge) throw tooMuchIn(view.directory, error)
    if (!isNoSpace(error)) throw error
    // An incomplete record is useless, and the session needs space to record its own end. The bytes of an earlier record stay, because merges may
    // need them.
    if (isFirst) removeRecord(view.directory)
    throw noRoomFor(view.directory, error)
  } finally {
    look?.close()
  }
}

async function gatherChanges(
  view: PrivateView,
  look: Look,
  sandbox: Sandbox,
  withIgnored: boolean,
  bounds: RecordBounds,
): Promise<ChangeRecord> {
  const counted = openTreeBudget("the run's changes", bounds.changes)
  const [changes, protectedPaths, special]: [RunChange[], string[], string[]] = [[], [], []]
  const blocked: ChangeRecord['blocked'][number][] = []
  const repositories: ChangeRecord['repositories'][number][] = []
  const ignored = { files: 0, bytes: 0 }
  const earlier = knownBefore(view.directory)
  const at = new Date().toISOString()
  const manifests = view.manifests()
  const leftOut = (why: 'secret' | 'other') =>
    view.views.flatMap(({ path }, index) => leftOutIn(path, manifests[index] ?? new Map(), why))
  const hidden = new Set([...(view.state.not_shown ?? []), ...leftOut('secret')])
  const unshown = [...hidden, ...leftOut('other')]
  /** Whether the view leaves out the user's own entry at a path, or on the way to it. */
  const isHidden = (path: string): boolean => [...hidden].some((each) => isInside(path, each))
  const noted = notedTrees(view.directory)
  const policy = protectInView(view, manifests, noted, sandbox.policy)
  // Nor may commits contain what the view leaves out: it would count as tracked, and the next view would show the user's own file.
  const inCommits = { ...policy, protectedPaths: [...policy.protectedPaths, ...hidden] }
  const remake = openRemaking(view.directory, sandbox, inCommits, view.views)
  for (const { path, source, git, find } of treesOf(view, manifests, look)) {
    const made: { key: string; path: string; kept: string; git: GitDirectories }[] = []
    const budget = { walk: openTreeBudget(path, bounds.tree), found: counted }
    const nested = nestedGit(path, git)
    const {
      differences: found,
      manifest,
      unreadable,
      originalAt,
    } = await find(budget, (key, kept) => {
      counted.count(key.length)
      const inTree = key === '' ? '' : pathOfKey(key)
      const [at, place] = [join(path, inTree), kept ?? join(source, inTree)]
      const own = privateGitOf(place)
      const isNew = lstatSync(encodePath(join(at, '.git')), { throwIfNoEntry: false }) === undefined
      // The other names of a directory that can't be a repository are those of files that never land.
      if (isNew && own === undefined) protectedPaths.push(join(at, '.git'))
      if (isNew && own !== undefined) made.push({ key, path: at, kept: place, git: own })
      const changed = isNew ? undefined : changedRepository(view.directory, at, place, own, nested)
      if (changed !== undefined) repositories.push(changed)
    })
    for (const { path: at, kept } of nested) {
      const changed = changedRepository(view.directory, at, kept.own, kept)
      // A linked work tree uses the objects of its repository, which has its own entry in the list.
      const isElsewhere = changed?.refs?.length === 0 && kept.own !== kept.common
      if (changed !== undefined && !isElsewhere) repositories.push(changed)
    }
    for (const key of unreadable) {
      counted.count(key.length)
      const at = join(path, pathOfKey(key))
      blocked.push({
        path: at,
        why: "it is a directory that can't be read or lies too deep, so what the run changed in it is unknown",
      })
    }
    // The `.git` files of nested work trees and submodules point to the private git directory. These pointers are not changes that the run made.
    const pointers = new Set(nested.map((each) => keyIn(path, join(each.path, '.git'))))
    const all = found.filter(({ key }) => !pointers.has(key))
    const tree: Tree = { path, source, manifest }
    const overlooked = await ignoredAmong(
      all,
      tree,
      nested.map((each) => each.path),
      sandbox,
    )
    for (const { key, path: at, kept, git: own } of made) {
      if (!withIgnored && overlooked.has(key)) continue
      const described = changedRepository(view.directory, at, kept, own) ?? { path: at, kept, refs: [] }
      repositories.push({ ...described, made: await remake({ path: at, git: own }) })
    }
    const wanted = withIgnored ? all : all.filter(({ key }) => !overlooked.has(key))
    for (const { after, before, key } of all) {
      if (!overlooked.has(key) || after.kind === 'directory' || before.kind === 'directory') continue
      ignored.files += 1
      ignored.bytes += after.kind === 'file' ? after.size : 0
    }
    // Git in a nested repository obeys that repository's own configuration.
    const within = noted.filter((each) => isInside(each, path))
    const protects = protectingPlaces(policy, [...new Set([path, ...within])])
    const ruleOf = await readMergeRules(wanted, all, { path, source, originalAt }, sandbox)
    for (const difference of withoutEmptied(wanted, all, overlooked)) {
      const { key, before, after } = difference
      const name = join(path, pathOfKey(key))
      const changed = () => changeOf(difference, tree, view.directory, sandbox, earlier, ruleOf(key))
      if (after.kind === 'other') special.push(name)
      else if (!isHidden(name) && protects(name, after.kind === 'link' || before.kind === 'link') !== undefined) {
        // What was written anew with the same content is no change.
        if ((await changed()) !== undefined) protectedPaths.push(name)
      } else {
        const replacesHidden =
          before.kind === 'directory' &&
          (after.kind === 'file' || after.kind === 'link') &&
          unshown.some((each) => isInside(each, name))
        const isDelivered = name === view.state.judged_by?.delivers_to
        const why = whyBlocked({ key, after, isDelivered, isHidden: isHidden(name), replacesHidden })
        if (why !== undefined) {
          blocked.push({ path: name, why })
          continue
        }
        const change = await changed()
        if (change !== undefined) changes.push(overlooked.has(key) ? { ...change, ignored: true } : change)
      }
    }
  }
  const record: ChangeRecord = {
    version: 1,
    at,
    changes,
    ignored,
    protected: protectedPaths,
    special,
    repositories,
    blocked,
    protected_paths: inCommits.protectedPaths,
    with_ignored: withIgnored,
    view: look.stamp,
  }
  writeRecord(view.directory, record)
  return record
}
