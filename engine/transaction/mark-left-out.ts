import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assumeUnchanged, decodeText, encodePath, readHostFile } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { largestIndex } from './clean-files.ts'
import { nestedGit } from './linked-git.ts'
import type { Manifest } from './view-manifest.ts'

/**
 * Makes git treat the tracked files that a copy of a tree lacks as unchanged. Otherwise, git would report them as deleted, and `git add -A` in the copy would
 * stage their deletion. Only the indexes of the copy are changed.
 *
 * @param to the copy of the tree `from`
 * @param manifest the entries of the tree, among them those that were left out
 * @param repositories the keys of the directories that contain a git directory
 */
export function markLeftOut(from: string, to: string, manifest: Manifest, repositories: readonly string[]): void {
  const leftOut = [...manifest.values()]
    .filter((each) => each.kind === 'left-out' && each.isSecret === undefined)
    .map(({ key }) => textOf(from, key))
  if (leftOut.length === 0) return
  for (const key of repositories) {
    const [tree, git] = [textOf(from, key), join(textOf(to, key), '.git')]
    markInIndex(git, tree, leftOut)
    for (const { path, kept } of nestedGit(tree, git)) markInIndex(kept.own, path, leftOut)
  }
}

function markInIndex(git: string, tree: string, leftOut: readonly string[]): void {
  const names = leftOut.filter((path) => isInside(path, tree)).map((path) => path.slice(tree.length + 1))
  const file = encodePath(join(git, 'index'))
  const content = names.length === 0 ? undefined : readHostFile(file, { maxBytes: largestIndex })
  if (content === undefined) return
  const isSparse = existsSync(encodePath(join(git, 'info/sparse-checkout')))
  for (const oidBytes of [20, 32]) {
    const marked = assumeUnchanged(content, names, oidBytes, isSparse)
    if (marked !== content) return writeFileSync(file, marked)
  }
}

function textOf(root: string, key: string): string {
  return key === '' ? root : `${root}/${decodeText(Buffer.from(key, 'latin1'))}`
}
