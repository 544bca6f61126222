import { spawnSync } from 'node:child_process'
import { linkSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PathError, ReadError, commitChangeSet, openTree } from '../../../apply-patch/files/index.ts'
import { add, changeSet, remove, update } from './change-tools.ts'
import { fill, makeScene, snapshot } from './tree-tools.ts'

describe('a path is refused', () => {
  const deep = `${'d/'.repeat(2100)}f`
  test.each([
    ['../outside/x', 'outside-root'],
    ['sub/../../outside/x', 'outside-root'],
    ['/etc/passwd', 'outside-root'],
    ['..', 'outside-root'],
    ['leads-out/x', 'outside-root'],
    ['leads-out/new/x', 'outside-root'],
    ['file-outside', 'outside-root'],
    ['dangling-out', 'outside-root'],
    ['absolute-out/x', 'outside-root'],
    ['chain', 'outside-root'],
    ['.git/hooks/pre-commit', 'protected'],
    ['.git', 'protected'],
    ['.GIT/config', 'protected'],
    ['sub/.Git/config', 'protected'],
    ['sub/.git', 'protected'],
    ['.g\u200cit/config', 'protected'],
    ['git~1/config', 'protected'],
    ['.git ./config', 'protected'],
    ['to-git/config', 'protected'],
    ['.git/../x', 'protected'],
    ['round', 'link-loop'],
    ['round/x', 'link-loop'],
    ['file/x', 'not-a-directory'],
    ['', 'invalid-path'],
    ['a\0b', 'invalid-path'],
    ['\ud800', 'invalid-path'],
    ['sub/', 'invalid-path'],
    ['sub/.', 'invalid-path'],
    ['n'.repeat(256), 'too-long'],
    [`sub/${'ü'.repeat(128)}`, 'too-long'],
    [deep, 'too-long'],
  ] as const)('%j: %s', (path, code) => {
    const { root } = makeScene({
      '.git/config': '',
      'sub/x': 'x',
      file: '',
      'leads-out': { link: '../outside' },
      'file-outside': { link: '../outside/o.txt' },
      'dangling-out': { link: '../outside/not-yet' },
      'absolute-out': { link: '/tmp' },
      chain: { link: 'sub/chain' },
      'sub/chain': { link: '../file-outside' },
      'to-git': { link: '.git' },
      round: { link: 'round' },
    })
    fill(join(root, '../outside'), { 'o.txt': 'outside' })
    const tree = openTree(root, { unsafePaths: false })
    expect(() => tree.locate(path)).toThrow(PathError)
    expect(() => tree.locate(path)).toThrow(expect.objectContaining({ code, path }))
  })

  test.each([
    ['into a linked worktree', { '.git': 'gitdir: real/worktrees/one\n', 'real/worktrees/one/commondir': '../..\n' }],
    ['into a .git that is a link', { 'real/config': '', '.git': { link: 'real' } }],
  ])("when it leads %s's git directory under another name", (_, layout) => {
    const { root } = makeScene({ ...layout, 'other/f': '' })
    const tree = openTree(root, { unsafePaths: false })
    expect(() => tree.locate('real/hooks/post-checkout')).toThrow(expect.objectContaining({ code: 'protected' }))
    expect(tree.locate('other/f').key).toBe(join(tree.root, 'other/f'))
  })
})

describe('a path is located', () => {
  test('at the real file behind links that stay inside, whatever its spelling', () => {
    const { root } = makeScene({
      'sub/x': 'x',
      in: { link: 'sub' },
      'to-x': { link: 'in/x' },
      'not-yet': { link: 'sub/later' },
    })
    const tree = openTree(root, { unsafePaths: false })
    const x = join(tree.root, 'sub/x')
    for (const path of [
      'sub/x',
      './sub//x',
      'sub/./x',
      'in/x',
      'to-x',
      'sub/../in/x',
      x,
      'in/../sub/x',
      '../tree/sub/x',
    ]) {
      expect(tree.locate(path), path).toEqual({ path, key: x })
    }
    expect(tree.locate('not-yet').key).toBe(join(tree.root, 'sub/later'))
    expect(tree.locate('missing/../gone/x').key).toBe(join(tree.root, 'gone/x'))
    expect(tree.locateEntry('to-x').key).toBe(join(tree.root, 'to-x'))
    expect(tree.locateEntry('in/x').key).toBe(x)
  })

  test('anywhere with unsafe paths, except where no file can be', () => {
    const { root, outside } = makeScene({ '.git/config': '', out: { link: '../outside' } })
    const tree = openTree(root, { unsafePaths: true })
    expect(tree.locate('.git/config').key).toBe(join(tree.root, '.git/config'))
    expect(tree.locate('out/x').key).toBe(join(outside, 'x'))
    expect(tree.locate('../outside/x').key).toBe(join(outside, 'x'))
    expect(() => tree.locate('a\0b')).toThrow(expect.objectContaining({ code: 'invalid-path' }))
  })

  test('through .gitignore, .github and names that only look like .git', () => {
    const { root } = makeScene()
    const tree = openTree(root, { unsafePaths: false })
    for (const path of ['.gitignore', '.github/workflows/ci.yml', 'x.git', '.git2/x', '.gitattributes', 'git/x']) {
      expect(tree.locate(path).key).toBe(join(tree.root, path))
    }
  })
})

describe('reading', () => {
  test('reports what kind of file is there, and never waits for a pipe', () => {
    const { root } = makeScene({ file: { mode: 0o640, text: 'a\0\xff' }, link: { link: 'file' }, folder: '/' })
    expect(spawnSync('mkfifo', [join(root, 'pipe')]).status).toBe(0)
    const tree = openTree(root, { unsafePaths: false })
    const states = ['file', 'link', 'folder', 'pipe', 'nothing', 'file/below'].map((name) =>
      tree.read({ path: name, key: join(tree.root, name) }),
    )
    expect(states).toEqual([
      expect.objectContaining({ type: 'file', mode: 0o640, links: 1, bytes: Buffer.from('a\0\xff') }),
      expect.objectContaining({ type: 'symlink', target: 'file' }),
      { type: 'directory' },
      { type: 'other' },
      { type: 'absent' },
      { type: 'absent' },
    ])
  })

  test('refuses a file that a swapped directory has moved elsewhere', () => {
    const { root, outside } = makeScene({ 'sub/secret': 'mine' })
    fill(outside, { secret: 'theirs' })
    const tree = openTree(root, { unsafePaths: false })
    const place = tree.locate('sub/secret')
    renameSync(join(root, 'sub'), join(root, 'was'))
    symlinkSync('../outside', join(root, 'sub'))
    expect(() => tree.read(place)).toThrow(ReadError)
  })
})

describe('a commit', () => {
  test.each(['a link', 'a link to a sibling'])('never goes through a directory that became %s', async (kind) => {
    const { root, outside, state } = makeScene({ 'sub/x': 'old', 'sibling/y': 'y' })
    fill(outside, { x: 'theirs' })
    const tree = openTree(root, { unsafePaths: false })
    const set = changeSet(tree, [update(tree, 'sub/x', 'new'), add(tree, 'sub/new', 'new')])
    renameSync(join(root, 'sub'), join(root, 'was'))
    symlinkSync(kind === 'a link' ? '../outside' : 'sibling', join(root, 'sub'))
    const before = [snapshot(root), snapshot(outside)]
    await expect(commitChangeSet(set, { stateDirectory: state })).rejects.toMatchObject({ tree: 'unchanged' })
    expect([snapshot(root), snapshot(outside)]).toEqual(before)
  })

  test('replaces a file that became a link only after refusing it', async () => {
    const { root, outside, state } = makeScene({ x: 'old' })
    fill(outside, { x: 'old' })
    const tree = openTree(root, { unsafePaths: false })
    const set = changeSet(tree, [update(tree, 'x', 'new')])
    rmSync(join(root, 'x'))
    symlinkSync('../outside/x', join(root, 'x'))
    await expect(commitChangeSet(set, { stateDirectory: state })).rejects.toMatchObject({
      code: 'changed',
      facts: { differences: [{ path: 'x', how: 'kind' }] },
    })
    expect(readFileSync(join(outside, 'x'), 'utf8')).toBe('old')
  })

  test('does not change a file outside that shares a hard link with the tree', async () => {
    const { root, outside, state } = makeScene()
    fill(outside, { o: 'theirs' })
    linkSync(join(outside, 'o'), join(root, 'o'))
    const tree = openTree(root, { unsafePaths: false })
    await commitChangeSet(changeSet(tree, [update(tree, 'o', 'mine')]), { stateDirectory: state })
    expect(readFileSync(join(outside, 'o'), 'utf8')).toBe('theirs')
    expect(readFileSync(join(root, 'o'), 'utf8')).toBe('mine')
  })

  test('removes a link, but not its target', async () => {
    const { root, outside, state } = makeScene({ out: { link: '../outside/o' }, dangling: { link: 'nowhere' } })
    fill(outside, { o: 'theirs' })
    const tree = openTree(root, { unsafePaths: false })
    await commitChangeSet(changeSet(tree, [remove(tree, 'out'), remove(tree, 'dangling')]), { stateDirectory: state })
    expect(snapshot(root)).toEqual({})
    expect(readFileSync(join(outside, 'o'), 'utf8')).toBe('theirs')
  })

  test.each(['/outside/x', '/tree/.git/hooks/x', '/tree/sub/../../outside/x', '/tree//x'])(
    'refuses a change set that names %s by itself',
    async (place) => {
      const { base, root, state } = makeScene({ 'sub/a': '' })
      const tree = openTree(root, { unsafePaths: false })
      const forged = { ...add(tree, 'n', 'x'), place: { path: 'n', key: base + place } }
      await expect(commitChangeSet(changeSet(tree, [forged]), { stateDirectory: state })).rejects.toThrow(PathError)
      expect(snapshot(root)).toEqual({ sub: expect.any(String), 'sub/a': expect.any(String) })
    },
  )

  test('works in very deep directories', async () => {
    const { root, state } = makeScene()
    const path = `${'deep/'.repeat(300)}x`
    const tree = openTree(root, { unsafePaths: false })
    await commitChangeSet(changeSet(tree, [add(tree, path, 'x'), add(tree, 'y', 'y')]), { stateDirectory: state })
    expect(readFileSync(join(root, path), 'utf8')).toBe('x')
  })
})
