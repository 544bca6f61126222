/**
 * A process that the tests kill. In the given tree, it commits a change set with changes of every kind, undoes it, or recovers the tree. Just before,
 * it looks for the file `/work-begins`, so that a trace of its system calls shows where the operation begins.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { CommitError, commitChangeSet, openTree, recover, undo } from '../../../apply-patch/files/index.ts'
import { add, changeSet, move, remove, replaceDirectory, swap, update } from './change-tools.ts'

const [, , action, root = '', durable] = process.argv
try {
  if (action === 'undo') {
    existsSync('/work-begins')
    await undo(root)
  } else if (action === 'recover') {
    existsSync('/work-begins')
    await recover({ root })
  } else if (action === 'commit-beside') {
    const beside = `${root}.beside`
    const tree = openTree(root, { unsafePaths: false, beside: [beside] })
    const changes = [update(tree, 'updated.txt', 'new\n'), ...move(tree, 'renamed.txt', `${beside}/renamed.txt`)]
    const set = { ...changeSet(tree, changes), root: dirname(tree.root), within: [tree.root, ...tree.beside] }
    existsSync('/work-begins')
    await commitChangeSet(set)
  } else {
    const tree = openTree(root, { unsafePaths: false })
    const gone = remove(tree, 'file-then-directory')
    const everyKind = changeSet(tree, [
      update(tree, 'updated.txt', 'new\n'),
      add(tree, 'made/deeper/added.txt', 'added\n'),
      remove(tree, 'removed.txt'),
      remove(tree, 'link'),
      ...move(tree, 'from.txt', 'moved/edited.txt', 'edited\n'),
      ...move(tree, 'renamed.txt', 'over.txt'),
      ...swap(tree, 'one', 'other'),
      gone,
      add(tree, 'file-then-directory/inner', 'inner\n', (key) => key === gone.place.key),
    ])
    const whole = {
      ...everyKind,
      changes: [
        ...everyKind.changes,
        remove(tree, 'gone/inner.txt'),
        remove(tree, 'directory-then-file/inner.txt'),
        replaceDirectory(tree, 'directory-then-file', 'file\n'),
      ],
      directories: [
        { type: 'remove' as const, key: `${root}/gone/empty` },
        { type: 'remove' as const, key: `${root}/gone` },
        { type: 'remove' as const, key: `${root}/directory-then-file` },
        { type: 'make' as const, key: `${root}/new/empty`, mode: 0o750 },
        { type: 'mode' as const, key: `${root}/mode`, before: 0o755, mode: 0o700 },
      ],
    }
    existsSync('/work-begins')
    await commitChangeSet(whole, { durable: durable === 'durable' })
  }
  process.stdout.write('committed\n')
} catch (error) {
  if (!(error instanceof CommitError)) throw error
  process.stdout.write(`${error.tree} ${error.code} ${error.facts.errno ?? ''}\n`)
  process.exitCode = 1
}
