import { linkSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CommitError, commitChangeSet, openTree, undo } from '../../../apply-patch/files/index.ts'
import { add, changeSet, move, remove, swap, update } from './change-tools.ts'
import { makeScene, snapshot } from './tree-tools.ts'

describe('a commit', () => {
  test('updates, adds, deletes and moves as planned, and leaves no files behind', async () => {
    const { root, state } = makeScene({
      'kept.txt': 'kept\n',
      'old.txt': { mode: 0o640, text: 'old\n' },
      'gone.txt': 'gone\n',
      'from.txt': { mode: 0o755, text: 'moved\n' },
    })
    const tree = openTree(root, { unsafePaths: false })
    const before = snapshot(root)
    const report = await commitChangeSet(
      changeSet(tree, [
        update(tree, 'old.txt', 'new\n'),
        add(tree, 'in/a/new/place.txt', 'added\n'),
        remove(tree, 'gone.txt'),
        ...move(tree, 'from.txt', 'to/there.txt', 'moved and edited\n'),
      ]),
      { stateDirectory: state },
    )
    const owner = before['kept.txt']?.split(' ')[2] ?? ''
    expect(snapshot(root)).toEqual({
      in: `directory 755 ${owner}`,
      'in/a': `directory 755 ${owner}`,
      'in/a/new': `directory 755 ${owner}`,
      'in/a/new/place.txt': `file 644 ${owner} added\n`,
      'kept.txt': before['kept.txt'],
      'old.txt': `file 640 ${owner} new\n`,
      to: `directory 755 ${owner}`,
      'to/there.txt': `file 755 ${owner} moved and edited\n`,
    })
    expect(report.madeDirectories).toEqual(['in', 'in/a', 'in/a/new', 'to'].map((name) => join(tree.root, name)))
    expect(report.canUndo).toBe(true)
  })

  test('keeps the same inode if it only renames a file', async () => {
    const { root, state } = makeScene({ a: { mode: 0o751, text: 'a\0\xff' } })
    const tree = openTree(root, { unsafePaths: false })
    const { ino, mtimeMs } = lstatSync(join(root, 'a'))
    await commitChangeSet(changeSet(tree, move(tree, 'a', 'deep/b')), { stateDirectory: state })
    expect(lstatSync(join(root, 'deep/b'))).toMatchObject({ ino, mtimeMs, nlink: 1 })
    expect(Object.keys(snapshot(root))).toEqual(['deep', 'deep/b'])
  })

  test('lets two files swap places', async () => {
    const { root, state } = makeScene({ a: { mode: 0o700, text: 'A' }, b: 'B' })
    const tree = openTree(root, { unsafePaths: false })
    const before = snapshot(root)
    await commitChangeSet(changeSet(tree, swap(tree, 'a', 'b')), { stateDirectory: state })
    expect(snapshot(root)).toEqual({ a: before['b'], b: before['a'] })
  })

  test('puts a directory where it removes a file', async () => {
    const { root, state } = makeScene({ a: 'file' })
    const tree = openTree(root, { unsafePaths: false })
    const gone = remove(tree, 'a')
    const added = add(tree, 'a/b/c', 'C', (key) => key === gone.place.key)
    const before = snapshot(root)
    await commitChangeSet(changeSet(tree, [gone, added]), { stateDirectory: state })
    expect(readFileSync(join(root, 'a/b/c'), 'utf8')).toBe('C')
    await undo(root, { stateDirectory: state })
    expect(snapshot(root)).toEqual(before)
  })

  test('gives one name of a hard link new content, and says that the others keep the old', async () => {
    const { root, state, outside } = makeScene({ a: 'old' })
    linkSync(join(root, 'a'), join(outside, 'other'))
    const tree = openTree(root, { unsafePaths: false })
    const { warnings } = await commitChangeSet(changeSet(tree, [update(tree, 'a', 'new')]), { stateDirectory: state })
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('new')
    expect(readFileSync(join(outside, 'other'), 'utf8')).toBe('old')
    expect(warnings).toMatchObject([{ code: 'hard-link-broken', path: 'a' }])
  })

  test('is refused when a file changed since it was planned, and changes nothing', async () => {
    const { root, state } = makeScene({ a: 'a', b: 'b' })
    const tree = openTree(root, { unsafePaths: false })
    const changes = [update(tree, 'a', 'A'), update(tree, 'b', 'B'), add(tree, 'c', 'C')]
    writeFileSync(join(root, 'b'), 'edited')
    writeFileSync(join(root, 'c'), 'came')
    const before = snapshot(root)
    const failure = await commitChangeSet(changeSet(tree, changes), { stateDirectory: state }).catch((error) => error)
    expect(failure).toBeInstanceOf(CommitError)
    expect(failure).toMatchObject({ code: 'changed', tree: 'unchanged' })
    expect(failure.facts.differences).toEqual([
      { path: 'b', key: join(tree.root, 'b'), how: 'size' },
      { path: 'c', key: join(tree.root, 'c'), how: 'appeared' },
    ])
    expect(snapshot(root)).toEqual(before)
  })
})

describe('undo', () => {
  test('restores bytes, modes, links and directories', async () => {
    const { root, state } = makeScene({
      'old.txt': { mode: 0o640, text: 'old\n' },
      'gone.txt': { mode: 0o600, text: 'gone\n' },
      link: { link: 'old.txt' },
      'from.txt': { mode: 0o755, text: 'moved\n' },
    })
    const before = snapshot(root)
    const tree = openTree(root, { unsafePaths: false })
    const changes = [
      update(tree, 'old.txt', 'new\n'),
      add(tree, 'in/a/place.txt', 'added\n'),
      remove(tree, 'gone.txt'),
      remove(tree, 'link'),
      ...move(tree, 'from.txt', 'to/there.txt'),
    ]
    await commitChangeSet(changeSet(tree, changes), { stateDirectory: state })
    await undo(root, { stateDirectory: state })
    expect(snapshot(root)).toEqual(before)
    await expect(undo(root, { stateDirectory: state })).rejects.toMatchObject({ code: 'nothing-to-undo' })
  })

  test('is refused if a file is not as the patch left it, and names the file', async () => {
    const { root, state } = makeScene({ a: 'a', b: 'b' })
    const tree = openTree(root, { unsafePaths: false })
    await commitChangeSet(changeSet(tree, [update(tree, 'a', 'A'), update(tree, 'b', 'B')]), { stateDirectory: state })
    writeFileSync(join(root, 'b'), 'X')
    const before = snapshot(root)
    await expect(undo(root, { stateDirectory: state })).rejects.toMatchObject({
      code: 'changed',
      facts: { differences: [{ path: 'b', key: join(tree.root, 'b'), how: 'content' }] },
    })
    expect(snapshot(root)).toEqual(before)
  })
})
