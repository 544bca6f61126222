import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import {
  changesBetween,
  encodePath,
  gitDirectoriesOf,
  readHostFile,
  readRepositoryState,
  stagedBetween,
  type GitDirectories,
  type RefChange,
  type RepositoryState,
} from '../../sandbox/index.ts'
import { largestIndex } from './clean-files.ts'
import { nestedGit } from './linked-git.ts'

const heads = z.array(
  z.object({
    path: z.string(),
    branch: z.string().optional(),
    commit: z.string().optional(),
    /** The branches, tags, notes and stash. Absent for a linked work tree, and in views that earlier versions made. */
    refs: z.record(z.string(), z.string()).optional(),
  }),
)
const headsFile = (directory: string): string => join(directory, 'heads.json')

/** Whether a tree is the root of a repository. */
export function isRepository(tree: string): boolean {
  return lstatSync(join(tree, '.git'), { throwIfNoEntry: false }) !== undefined
}

/** A tree of a new view: its path, its git directory in the view, and the nested repositories that have a `.git` directory of their own. */
type MadeTree = {
  readonly path: string
  readonly git: string
  readonly nested: readonly { readonly path: string; readonly git: string }[]
}

/**
 * Records what is checked out and staged in each tree of a new view and in the repositories in the tree, and where their refs point. The differences from
 * this record are what has to land later, and landing changes a ref only if the ref still has the recorded value in the user's repository.
 */
export function noteHeads(directory: string, trees: readonly MadeTree[]): void {
  const all = trees.flatMap(({ path, git, nested }): readonly (readonly [string, GitDirectories])[] => [
    [path, { own: git, common: git }],
    ...nestedGit(path, git).map((each) => [each.path, each.kept] as const),
    ...nested.map((each) => [each.path, { own: each.git, common: each.git }] as const),
  ])
  const known = all.flatMap(([path, git]) => {
    const state = readRepositoryState(git)
    return state === undefined ? [] : [{ path, git, ...state }]
  })
  rmSync(indexFolder(directory), { recursive: true, force: true })
  mkdirSync(indexFolder(directory), { mode: 0o700 })
  for (const [number, { git }] of known.entries()) {
    const index = indexOf(git)
    if (index !== undefined) writeFileSync(join(indexFolder(directory), `${number}`), index, { mode: 0o600 })
  }
  const noted = known.map(({ git: _, ...each }) => each)
  writeFileSync(headsFile(directory), `${JSON.stringify(noted)}\n`, { mode: 0o600 })
}

/** The folder with the indexes that the repositories of a view had when their heads were noted, named by the position in the list of heads. */
const indexFolder = (directory: string): string => join(directory, 'noted-indexes')

const indexOf = ({ own }: GitDirectories): Buffer | undefined =>
  readHostFile(encodePath(join(own, 'index')), { maxBytes: largestIndex })

/** The index that a repository of a view had when its head was noted; `content` is undefined if it had none. Undefined if that wasn't noted. */
export function indexAtStart(directory: string, path: string): { readonly content: Buffer | undefined } | undefined {
  if (!existsSync(indexFolder(directory))) return undefined
  const number = readHeads(directory).findIndex((each) => each.path === path)
  if (number === -1) return undefined
  return { content: readHostFile(join(indexFolder(directory), `${number}`), { maxBytes: largestIndex }) }
}

/** Whether a run may have staged anything in a repository of its view. */
export function mayHaveStaged(directory: string, path: string, git: GitDirectories): boolean {
  const made = indexAtStart(directory, path)
  return made !== undefined && stagedBetween(made.content, indexOf(git))?.length !== 0
}

function readHeads(directory: string): z.infer<typeof heads> {
  if (!existsSync(headsFile(directory))) return []
  return heads.parse(JSON.parse(readFileSync(headsFile(directory), 'utf8')))
}

/** The trees and repositories whose state was recorded. */
export function notedTrees(directory: string): readonly string[] {
  return readHeads(directory).map(({ path }) => path)
}

/** What was checked out in a tree when its view was made, and where its refs pointed; undefined if that wasn't recorded. */
export function headOf(directory: string, path: string): RepositoryState | undefined {
  const known = readHeads(directory).find((each) => each.path === path)
  return known && { branch: known.branch, commit: known.commit, refs: known.refs }
}

/**
 * What a run changed in the refs of a repository of its view, compared with when the view was made or, if that wasn't recorded, with the user's repository.
 *
 * @param path the path of the repository's work tree
 * @param git the git directories of the repository in the view
 * @param linked the linked work trees of the view's repository
 * @returns undefined if that can't be determined
 */
export function refChanges(
  directory: string,
  path: string,
  git: GitDirectories,
  linked: readonly { readonly path: string; readonly kept: GitDirectories }[] = [],
): readonly RefChange[] | undefined {
  const now = readRepositoryState(git)
  if (now === undefined) return undefined
  const known = headOf(directory, path)
  const host = gitDirectoriesOf(path)
  const present = host && readRepositoryState(host)
  // A repository that the run created has no earlier state, so it is compared with an empty repository.
  const head = known ?? present ?? { branch: now.branch, commit: undefined }
  const refs = known?.refs ?? (host && readRepositoryState({ ...host, own: host.common })?.refs) ?? {}
  const before = { branch: head.branch, commit: head.commit, refs }
  const except = linked.flatMap((each): readonly string[] => {
    const [was, is] = [headOf(directory, each.path), readRepositoryState(each.kept)]
    return was?.branch !== undefined && was.branch === is?.branch ? [was.branch] : []
  })
  return changesBetween(before, now, { except: new Set(except), isRemovalKnown: known?.refs !== undefined })
}
