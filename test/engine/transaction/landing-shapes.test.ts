/** Landings that change the shape of a tree: directories, links and files that take each other's names. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commit, undo } from '../../../apply-patch/index.ts'
import type { LockedFolder } from '../../../engine/session/session-lock.ts'
import type { RunChange, Side } from '../../../engine/transaction/change-record.ts'
import { keepBytes } from '../../../engine/transaction/kept-files.ts'
import { planLanding } from '../../../engine/transaction/plan-landing.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { lockedFolder } from './locked-folder.ts'

type Node =
  | { readonly type: 'file'; readonly text: string; readonly mode: number }
  | { readonly type: 'symlink'; readonly target: string }
  | { readonly type: 'directory'; readonly mode: number; readonly entries: Readonly<Record<string, Node>> }

const names = ['a', 'b', 'c']
const targets = [...names, '../a', '../b', 'a/b', '.', '/nowhere']

function nodes(depth: number): fc.Arbitrary<Node> {
  const file = fc.record({
    type: fc.constant('file' as const),
    text: fc.constantFrom('', 'one\n', 'two\n'),
    mode: fc.constantFrom(0o644, 0o755),
  })
  const symlink = fc.record({ type: fc.constant('symlink' as const), target: fc.constantFrom(...targets) })
  if (depth === 0) return fc.oneof(file, symlink)
  const directory = fc.record({
    type: fc.constant('directory' as const),
    mode: fc.constantFrom(0o755, 0o700),
    entries: entries(depth - 1),
  })
  return fc.oneof(file, symlink, { weight: 2, arbitrary: directory })
}

function entries(depth: number): fc.Arbitrary<Readonly<Record<string, Node>>> {
  return fc.dictionary(fc.constantFrom(...names), nodes(depth), { maxKeys: 3, noNullPrototype: true })
}

function build(at: string, all: Readonly<Record<string, Node>>): void {
  for (const [name, node] of Object.entries(all)) {
    const path = join(at, name)
    if (node.type === 'symlink') symlinkSync(node.target, path)
    else if (node.type === 'file') writeFileSync(path, node.text)
    else {
      mkdirSync(path)
      build(path, node.entries)
    }
    if (node.type !== 'symlink') chmodSync(path, node.mode)
  }
}

/** The sides of all paths of a tree, with their content, which is stored in a session's folder. */
function sides(root: string, directory: LockedFolder, below = ''): Readonly<Record<string, Side>> {
  return Object.assign(
    {},
    ...readdirSync(join(root, below)).map((name) => {
      const path = join(below, name)
      const at = join(root, path)
      const stats = lstatSync(at)
      const mode = stats.mode & 0o7777
      if (stats.isSymbolicLink()) return { [path]: { type: 'symlink', target: readlinkSync(at) } }
      if (stats.isDirectory()) return { [path]: { type: 'directory', mode }, ...sides(root, directory, path) }
      return { [path]: { type: 'file', mode, size: stats.size, hash: keepBytes(directory, readFileSync(at)) } }
    }),
  ) as Record<string, Side>
}

/** A tree, a second tree that contains the result of a run, and the changes between them. */
function scene(before: Readonly<Record<string, Node>>, after: Readonly<Record<string, Node>>) {
  const [base, directory] = [tempDir(), lockedFolder()]
  const [root, view, state] = [join(base, 'tree'), join(base, 'view'), join(base, 'state')]
  for (const path of [root, view, state]) mkdirSync(path)
  build(root, before)
  build(view, after)
  const [old, wanted] = [sides(root, directory), sides(view, directory)]
  const absent: Side = { type: 'absent' }
  const changes = [...new Set([...Object.keys(old), ...Object.keys(wanted)])]
    .toSorted()
    .map((path): RunChange => ({ root, path, before: old[path] ?? absent, after: wanted[path] ?? absent }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after))
  const land = async (): Promise<void> => {
    const { changeSet, conflicts } = planLanding(changes, directory, undefined)
    expect(conflicts).toEqual([])
    await commit(changeSet, { stateDirectory: state })
  }
  return {
    root,
    changes,
    old,
    wanted,
    now: () => sides(root, directory),
    land,
    again: () => planLanding(changes, directory, undefined),
    takeBack: () => undo(root, { stateDirectory: state }),
  }
}

async function landsAndComesBack(
  before: Readonly<Record<string, Node>>,
  after: Readonly<Record<string, Node>>,
): Promise<void> {
  const { changes, old, wanted, now, land, again, takeBack } = scene(before, after)
  if (changes.length === 0) return
  for (const _ of ['first', 'second']) {
    await land()
    expect(now()).toEqual(wanted)
    const { changeSet, conflicts, already } = again()
    expect({ conflicts, already }).toEqual({ conflicts: [], already: changes.length })
    expect([...changeSet.changes, ...(changeSet.directories ?? [])]).toEqual([])
    await takeBack()
    expect(now()).toEqual(old)
  }
}

const file = (text: string): Node => ({ type: 'file', text, mode: 0o644 })
const link = (target: string): Node => ({ type: 'symlink', target })
const folder = (all: Readonly<Record<string, Node>>): Node => ({ type: 'directory', mode: 0o755, entries: all })

test.each([
  [
    'a link takes the place of a moved directory',
    { a: folder({ x: file('1') }) },
    { b: folder({ x: file('1') }), a: link('b') },
  ],
  [
    'a link and its directory swap names',
    { a: folder({ x: file('1') }), b: link('a') },
    { b: folder({ x: file('1') }), a: link('b') },
  ],
  ['a link to itself takes the place of a directory', { a: folder({ x: file('1') }) }, { a: link('a') }],
  [
    'a link to its parent takes the place of a directory',
    { a: folder({ a: folder({ a: file('1') }) }) },
    { a: link('.') },
  ],
  [
    'a directory takes the place of a link to a directory',
    { a: folder({ x: file('1') }), b: link('a') },
    { a: folder({ x: file('1') }), b: folder({ x: file('2') }) },
  ],
])('%s, and undo restores the first tree', async (_, before, after) => {
  await landsAndComesBack(before, after)
})

test('a directory that would be replaced, and to which somebody added a file, is a conflict that names the file', () => {
  const { root, again } = scene({ a: folder({ x: file('1'), b: folder({ y: file('2') }) }) }, { a: file('1') })
  writeFileSync(join(root, 'a/b/theirs'), 't')
  const why = `it would replace a directory that contains ${root}/a/b/theirs, which is not among the changes`
  expect(again().conflicts).toEqual([{ path: `${root}/a`, why }])
})

test('a directory that would be removed, and to which somebody added a file, stays with that file', async () => {
  const { root, now, land, takeBack, old } = scene({ a: folder({ x: file('1'), b: folder({ y: file('2') }) }) }, {})
  writeFileSync(join(root, 'a/b/theirs'), 't')
  await land()
  expect(Object.keys(now())).toEqual(['a', 'a/b', 'a/b/theirs'])
  await takeBack()
  expect(now()).toMatchObject(old)
})

test('a directory whose mode somebody else changed too is a conflict', () => {
  const { root, again } = scene({ a: folder({}) }, { a: { type: 'directory', mode: 0o700, entries: {} } })
  chmodSync(join(root, 'a'), 0o711)
  expect(again().conflicts).toEqual([{ path: `${root}/a`, why: 'someone else changed its mode' }])
})

test('every landing gives the planned tree, applying it again finds nothing to do, and undo gives the first tree back', async () => {
  await fc.assert(
    fc.asyncProperty(entries(2), entries(2), async (before, after) => {
      await landsAndComesBack(before, after)
    }),
    { numRuns: 150 },
  )
})
