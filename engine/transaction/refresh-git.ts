import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  encodeText,
  openTreeBudget,
  operationAt,
  parseIndex,
  readHostFile,
  readRepositoryState,
  type TreeBudget,
} from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { largestIndex } from './clean-files.ts'
import { copyGit } from './copy-git.ts'
import { headOf, noteHeads, notedTrees } from './heads.ts'
import { linkNested } from './linked-git.ts'
import { markLeftOut } from './mark-left-out.ts'
import { below, bytesOf, keyIn } from './path-keys.ts'
import type { PrivateView } from './stored-view.ts'

/** A repository of a view: its work tree, its git directory in the tree and in the view, and both as they were when they were last noted. */
type Noted = {
  readonly path: string
  /** The position of its tree among those of the view. */
  readonly tree: number
  readonly host: string
  readonly kept: string
  readonly stamp: string
  readonly index: Buffer | undefined
}

/** Keeps the git directories of a copied view up to date with those of its trees. */
type GitRefresh = {
  /** Takes what is in the trees and the view now as the state that somebody's changes are measured by. Call it after each landing. */
  note(): void
  /**
   * Copies a git directory again if somebody has changed it, unless commands have changed anything in the view's own: refs, what is checked out or staged, or an
   * operation in progress. Linked work trees and submodules stay as they are. Call it only when no command is running.
   */
  refresh(): Promise<void>
}

/** Notes the repositories of a view that has just been made. */
export function openGitRefresh(view: PrivateView): GitRefresh {
  const { directory, views } = view
  let noted: readonly Noted[] = []
  const look = (): void => {
    noted = notedTrees(directory).flatMap((path): readonly Noted[] => {
      const tree = views.findIndex((each) => isInside(path, each.path))
      const root = views[tree]
      if (root === undefined) return []
      const [host, kept] = [join(path, '.git'), join(root.source, path.slice(root.path.length), '.git')]
      if (!isDirectory(host) || !isDirectory(kept)) return []
      return [{ path, tree, host, kept, stamp: stampOf(host), index: indexOf(kept) }]
    })
  }
  const note = (): void => {
    const trees = views.map(({ path, source }, index) => ({
      path,
      git: join(source, '.git'),
      nested: noted.flatMap((each) =>
        each.tree === index && each.path !== path ? [{ path: each.path, git: each.kept }] : [],
      ),
    }))
    noteHeads(directory, trees)
    look()
  }
  look()
  return {
    note,
    refresh: async () => {
      const changed = noted.filter((each) => stampOf(each.host) !== each.stamp && isAsNoted(directory, each))
      for (const { path, tree, host, kept } of changed) {
        const [root, manifest] = [views[tree], view.manifests()[tree]]
        if (root === undefined || manifest === undefined) continue
        await copyGit([{ from: encodeText(host), to: encodeText(kept) }], () => undefined)
        if (path === root.path) await linkNested(path, kept, root.source, () => undefined)
        markLeftOut(root.path, root.source, manifest, [keyIn(root.path, path)])
      }
      if (changed.length > 0) note()
    },
  }
}

function isAsNoted(directory: string, { path, kept, index }: Noted): boolean {
  const git = { own: kept, common: kept }
  const [was, is] = [headOf(directory, path), readRepositoryState(git)]
  const isSame =
    is !== undefined && isDeepStrictEqual({ ...was }, { branch: is.branch, commit: is.commit, refs: is.refs })
  return isSame && operationAt(git) === undefined && isDeepStrictEqual(staged(index), staged(indexOf(kept)))
}

/** What is staged, whatever git has noted about the files themselves. */
function staged(index: Buffer | undefined): unknown {
  const entries = index && (parseIndex(index, 20) ?? parseIndex(index, 32))
  return entries?.map(({ path, oid, mode, stage }) => [path, oid, mode, stage]) ?? index
}

function indexOf(git: string): Buffer | undefined {
  return readHostFile(join(git, 'index'), { maxBytes: largestIndex })
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** A text that changes whenever git writes anything but objects. */
function stampOf(git: string): string {
  return stampsBelow(git, '', openTreeBudget(git)).join('\n')
}

function stampsBelow(git: string, directory: string, budget: TreeBudget): readonly string[] {
  return budget.list(bytesOf(git, directory)).flatMap(({ name, kind }): readonly string[] => {
    const key = below(directory, name)
    if (directory === '' && (name === 'objects' || name === 'lfs')) return []
    if (kind === 'directory') return stampsBelow(git, key, budget)
    const stats = lstatSync(bytesOf(git, key), { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? [] : [`${key} ${stats.ino} ${stats.size} ${stats.mtimeNs}`]
  })
}
