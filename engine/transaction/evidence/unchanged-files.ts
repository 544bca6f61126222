import { readlinkSync, type BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Sandbox } from '../../../sandbox/index.ts'
import { listedByGit } from '../../core/changes/ask-git.ts'
import { pathOfKey, walkFiles } from '../../core/changes/list-files.ts'
import { isRepository } from '../heads.ts'
import { bytesOf, isText } from '../path-keys.ts'
import { hashOfFile, statsOf } from '../tree-files.ts'
import type { FileAfter } from './statement.ts'

/** The source files of a tree that a run left alone. */
export type UnchangedFiles = {
  readonly files: readonly FileAfter[]
  /** Source files that no evidence covers: submodules, names that are not UTF-8, what can't be read. */
  readonly leftOut: readonly string[]
  /** How many of the files somebody wrote after the run. */
  readonly touchedLater: number
}

type Looked = {
  /** Paths to leave out: those that the run changed, which are known otherwise. */
  readonly except: ReadonlySet<string>
  /** For git. */
  readonly sandbox: Sandbox
  /** When the run's changes were recorded. */
  readonly since: Date
}

/** Lists of this size hold about a million files. */
const largestList = 128 * 1024 * 1024
const atOnce = 200

/**
 * What the source files hold that a run left alone: those that git tracks or would take, and without a repository all but `node_modules`. As they are
 * now, since the view of a run that landed is gone.
 *
 * @returns undefined where they can't be listed: git fails, or there are too many to look for without it
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
    // Tracked, and not checked out: sparse, or removed by the user.
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
  // Where there is a repository, only git knows what is no source.
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
