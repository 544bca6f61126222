import { join } from 'node:path'
import { openTree } from '../../../apply-patch/files/index.ts'
import type { ChangeSet } from '../../../apply-patch/index.ts'
import { add, changeSet, remove, replaceDirectory, update } from './change-tools.ts'

/** A commit that changes, adds and removes files, and puts a file in the place of a directory with directories in it. */
export function everything(root: string, text = 'new'): ChangeSet {
  const tree = openTree(root, { unsafePaths: false })
  const changes = [
    update(tree, 'first.txt', 'new'),
    remove(tree, 'dir/in/1'),
    remove(tree, 'dir/in/deep/2'),
    remove(tree, 'dir/3'),
    replaceDirectory(tree, 'dir', 'file'),
    add(tree, 'side/made/new.txt', text),
    update(tree, 'tail.txt', 'new'),
  ]
  const directories = ['dir/in/deep', 'dir/in', 'dir'].map((name) => ({
    type: 'remove' as const,
    key: join(root, name),
  }))
  return { ...changeSet(tree, changes), directories }
}
