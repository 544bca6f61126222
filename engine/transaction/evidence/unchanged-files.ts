import { readlinkSync, type BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Sandbox } from '../../../sandbox/index.ts'
import { listedByGit } from '../../core/changes/ask-git.ts'
import { pathOfKey, walkFiles } from '../../core/changes/list-files.ts'
import { isRepository } from '../heads.ts'
import { bytesOf, isText } from '../path-keys.ts'
import { hashOfFile, statsOf } from '../tree-files.ts'
import type { FileAfter } from './statement.ts'

/** The source files that a run left unchanged in a tree. */
export type UnchangedFiles = {
  readonly files: readonly FileAfter[]
  /** Source files that the evidence doesn't cover: submodules, names that aren't UTF-8, unreadable files. */
  readonly leftOut: readonly string[]
  /** How many of the files were written after the run. */
  readonly touchedLater: number
}

type Looked = {
  /** Paths to skip: the run changed these, and the evidence lists them separately. */
  readonly except: ReadonlySet<string>
  /** The sandbox in which git runs. */
  readonly sandbox: Sandbox
  /** When the changes of the run were recorded. */
  readonly since: Date
}

/** The maximum size of git's list of files, in bytes. A list of this size names about a million files. */
const largestList = 128 * 1024 * 1024
const atOnce = 200

/**
 * Hashes the source files that a run left unchanged. These are the files that git tracks or would add; without a repository, all files outside `node_modules`.
 * Their current state in the tree is hashed, because the view no longer exists once a run has landed.
 *
 * @returns undefined if the files can't be listed, because git fails, or because there are too many of them to find without git
 */
export async function unchangedFiles(
  tree: string,
  { except, sandbox, since }: Looked,
): Promise<UnchangedFiles | undefined> {
  const keys = await sourceFiles(tree, sandbox)
  if (keys === undefined) return undefined
  const [files, leftOut]: [FileAfter[], string[]] = [[], []]
  let [looked, touchedLater] = [0, 0]
  for (const key of [...keys].toSorted()) {
    if (++looked % atOnce === 0) await setImmediate()
    const path = pathOfKey(key)
    if (except.has(path)) continue
    const stats = statsOf(bytesOf(tree, key))
    // Git tracks this file, but it doesn't exist: the checkout is sparse, or the user removed the file.
    if (stats === undefined) continue
    const file = isText(key) ? stateOf(tree, key, stats) : undefined
    if (file === undefined) leftOut.push(path)
    else {
      files.push(file)
      if (Number(stats.ctimeMs) > since.getTime()) touchedLater += 1
    }
  }
  return { files, leftOut, touchedLater }
}

async function sourceFiles(tree: string, sandbox: Sandbox): Promise<Iterable<string> | undefined> {
  const listed = await listedByGit({ sandbox, workspace: tree, outputLimitBytes: largestList })
  if (listed !== undefined) return listed
  // In a repository, only git can tell which files are source files, so if git fails, there is no list.
  if (isRepository(tree)) return undefined
  const walked = await walkFiles(tree)
  return 'too' in walked ? undefined : walked.keys()
}

function stateOf(tree: string, key: string, stats: BigIntStats): FileAfter | undefined {
  const path = pathOfKey(key)
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(bytesOf(tree, key), 'latin1')
    return isText(target) ? { path, type: 'symlink', target: pathOfKey(target) } : undefined
  }
  const sha256 = stats.isFile() ? hashOfFile(bytesOf(tree, key)) : undefined
  return sha256 === undefined ? undefined : { path, type: 'file', sha256, mode: Number(stats.mode & 0o7777n) }
}
