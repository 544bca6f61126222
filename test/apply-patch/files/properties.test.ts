import { lstatSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commitChangeSet, openTree, undo, type Tree } from '../../../apply-patch/files/index.ts'
import type { Change } from '../../../apply-patch/index.ts'
import { changeSet } from './change-tools.ts'
import { makeScene, snapshot, type Layout } from './tree-tools.ts'
import { tries } from '../../support/tries.ts'

const names = ['a', 'b', 'c', 'd/a', 'd/b', 'd/e/a', 'f/a', 'f/g/h/a']
// Only root can write to a file without write permission. Another test checks that other users are refused.
const unwritable = process.geteuid?.() === 0 ? [0o400] : []
const mode = fc.constantFrom(0o644, 0o600, 0o755, 0o4711, ...unwritable)
const text = fc.string({ maxLength: 20, unit: 'binary' })
const file = fc.record({ mode, text })

/** Generates trees with files, and perhaps symlinks, at some of the `names`. */
const trees: fc.Arbitrary<Layout> = fc.dictionary(
  fc.constantFrom(...names),
  fc.oneof({ weight: 5, arbitrary: file }, fc.record({ link: fc.constantFrom('a', 'nowhere', '../f') })),
  { maxKeys: 8 },
)

type Wish = { readonly kind: 'write' | 'remove' | 'move'; readonly to: string; readonly from: string } & {
  readonly text: string
  readonly mode: number
}
const wishes = fc.uniqueArray(
  fc.record({
    kind: fc.constantFrom('write' as const, 'remove' as const, 'move' as const),
    to: fc.constantFrom(...names),
    from: fc.constantFrom(...names),
    text,
    mode,
  }),
  { maxLength: 6, selector: ({ to }) => to },
)

/**
 * Turns randomly generated requests into changes to a tree. Requests that are impossible, or whose path has already been changed, are left out.
 */
function plan(tree: Tree, wanted: readonly Wish[]): readonly Change[] {
  const changes = new Map<string, Change>()
  const put = (change: Change): void => void changes.set(change.place.key, change)
  for (const wish of wanted) {
    const place = { path: wish.to, key: join(tree.root, wish.to) }
    const before = tree.read(place)
    if (changes.has(place.key) || before.type === 'directory' || before.type === 'other') continue
    if (wish.kind === 'remove' && before.type !== 'absent') put({ type: 'remove', place, before })
    const content = [Buffer.from(wish.text, 'latin1')]
    if (wish.kind === 'write') put({ type: 'write', place, before, content, mode: wish.mode, owner: undefined })
    if (wish.kind !== 'move') continue
    const source = { path: wish.from, key: join(tree.root, wish.from) }
    const found = tree.read(source)
    if (found.type !== 'file' || changes.has(source.key) || source.key === place.key) continue
    const moved = wish.text.length % 2 === 0 ? [found.bytes] : content
    const owner = { uid: found.uid, gid: found.gid }
    put({ type: 'write', place, before, content: moved, mode: found.mode, owner, movedFrom: source })
    put({ type: 'remove', place: source, before: found, movedTo: place })
  }
  return [...changes.values()]
}

/** Returns the snapshot that a tree should have after these changes. */
function promise(before: Record<string, string>, root: string, changes: readonly Change[]): Record<string, string> {
  const after = { ...before }
  const { uid, gid } = lstatSync(root)
  for (const { place } of changes) delete after[place.path]
  for (const change of changes) {
    if (change.type === 'remove') continue
    const content = Buffer.concat(change.content).toString('latin1')
    after[change.place.path] = `file ${(change.mode ?? 0o644).toString(8)} ${uid}:${gid} ${content}`
    for (let at = dirname(change.place.path); at !== '.'; at = dirname(at)) after[at] ??= `directory 755 ${uid}:${gid}`
  }
  return Object.fromEntries(Object.entries(after).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

test('a commit makes exactly what the plan says, and undo restores exactly what was there', async () => {
  await fc.assert(
    fc.asyncProperty(trees, wishes, async (layout, wanted) => {
      const { root, state } = makeScene(compatible(layout))
      const before = snapshot(root)
      const tree = openTree(root, { unsafePaths: false })
      const changes = plan(tree, wanted)
      const expected = promise(before, root, changes)
      await commitChangeSet(changeSet(tree, changes), { stateDirectory: state })
      expect(snapshot(root)).toEqual(expected)
      await undo(root, { stateDirectory: state })
      expect(snapshot(root)).toEqual(before)
    }),
    { numRuns: tries(300) },
  )
})

test('a commit that is refused half-way changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(trees, wishes, fc.nat(), fc.boolean(), async (layout, wanted, pick, late) => {
      const { root, state } = makeScene(compatible(layout))
      const before = snapshot(root)
      const tree = openTree(root, { unsafePaths: false })
      const changes = plan(tree, wanted)
      if (changes.length === 0) return
      // Either the plan is wrong about one file, or the commit is aborted when it is partly done.
      const victim = changes[pick % changes.length]
      const wrong = changes.map((change) => (change === victim ? mistaken(change) : change))
      const abort = new AbortController()
      const now = (): Date => (abort.abort(), new Date())
      const options = { stateDirectory: state, ...(late ? { signal: abort.signal, now } : {}) }
      await expect(commitChangeSet(changeSet(tree, late ? changes : wrong), options)).rejects.toMatchObject({
        code: late ? 'aborted' : 'changed',
        tree: 'unchanged',
      })
      expect(snapshot(root)).toEqual(before)
      expect(Object.keys(snapshot(state)).filter((name) => /\/(?:active|failed|applied)-/.test(name))).toEqual([])
    }),
    { numRuns: 200 },
  )
})

/** Returns the change with a `before` that is different from what the tree contains. */
function mistaken(change: Change): Change {
  const { before } = change
  if (before.type === 'absent' || before.type === 'symlink' || before.type !== 'file') {
    const other = { type: 'symlink', target: 'other', device: 0n, inode: 0n } as const
    return { ...change, before: other }
  }
  return { ...change, before: { ...before, bytes: Buffer.concat([before.bytes, Buffer.from('!')]) } }
}

/** Leaves out the files at whose paths other files need a directory. */
function compatible(layout: Layout): Layout {
  return Object.fromEntries(
    Object.entries(layout).filter(([name]) => !Object.keys(layout).some((other) => other.startsWith(`${name}/`))),
  )
}

test('content of many pieces, large and small, is written whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(0, 1, 7, 1000, 70_000, 300_000), fc.nat(255)), { maxLength: 12 }),
      async (pieces) => {
        const { root, state } = makeScene()
        const tree = openTree(root, { unsafePaths: false })
        const content = pieces.map(([size, byte]) => Buffer.alloc(size, byte))
        const place = tree.locate('f')
        const change: Change = {
          type: 'write',
          place,
          before: { type: 'absent' },
          content,
          mode: 0o644,
          owner: undefined,
        }
        await commitChangeSet(changeSet(tree, [change]), { stateDirectory: state })
        expect(readFileSync(join(root, 'f')).equals(Buffer.concat(content))).toBe(true)
      },
    ),
    { numRuns: 50 },
  )
})
