import fc from 'fast-check'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { makeView } from '../../../engine/transaction/private-view.ts'
import { refreshView } from '../../../engine/transaction/refresh-view.ts'
import { snapshot } from '../../apply-patch/files/tree-tools.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { lockedFolder } from './locked-folder.ts'

/** One change of a tree: what is to be at a path afterwards. */
type Edit = {
  readonly path: string
  readonly now: 'nothing' | 'directory' | { readonly text: string } | { readonly link: string }
  readonly mode: number
}

const paths = ['a', 'b', 'a/x', 'a/y', 'a/x/deep', 'b/x', 'c', 'c/z']
const edit = (outside: string): fc.Arbitrary<Edit> =>
  fc.record({
    path: fc.constantFrom(...paths),
    now: fc.oneof(
      fc.constantFrom('nothing' as const, 'directory' as const),
      fc.record({ text: fc.constantFrom('one\n', 'two\n', '') }),
      fc.record({ link: fc.constantFrom('a', '.', outside) }),
    ),
    mode: fc.constantFrom(0o755, 0o700, 0o555),
  })

/** Changes a tree, but nothing through a link. */
function apply(root: string, { path, now, mode }: Edit): void {
  const names = path.split('/').slice(0, -1)
  for (const at of names.map((_, index) => names.slice(0, index + 1).join('/'))) {
    const stats = lstatSync(join(root, at), { throwIfNoEntry: false })
    if (stats !== undefined && !stats.isDirectory()) return
    if (stats !== undefined) chmodSync(join(root, at), 0o755)
  }
  const place = join(root, path)
  rmSync(place, { recursive: true, force: true })
  if (now === 'nothing') return
  mkdirSync(dirname(place), { recursive: true })
  if (now === 'directory') mkdirSync(place)
  else if ('link' in now) return symlinkSync(now.link, place)
  else writeFileSync(place, now.text)
  chmodSync(place, mode)
}

const kept = { 'kept.txt': 'not ours\n', x: 'not ours\n', deep: 'not ours\n' }

test('a view that was brought up to date is what its tree is, whatever happened to both, and nothing outside changes', async () => {
  const outside = tempDir(kept)
  await fc.assert(
    fc.asyncProperty(
      fc.array(edit(outside), { maxLength: 8 }),
      fc.array(fc.array(fc.record({ side: fc.constantFrom('tree', 'both'), edit: edit(outside) }), { maxLength: 6 }), {
        maxLength: 3,
      }),
      async (first, rounds) => {
        const tree = tempDir()
        for (const each of first) apply(tree, each)
        const view = await makeView(lockedFolder(), [tree], 'copy', '')
        const source = view.views[0]?.source ?? ''
        const manifests = view.manifests().map((each) => new Map(each))
        for (const round of rounds) {
          for (const { side, edit: each } of round) {
            // What lands is in both of them.
            if (side === 'both') apply(source, each)
            apply(tree, each)
          }
          await refreshView(view, manifests, [])
          expect(snapshot(source)).toEqual(snapshot(tree))
        }
        expect(snapshot(outside)).toEqual(snapshot(tempDir(kept)))
      },
    ),
    { numRuns: process.env['SEARCH'] === 'full' ? 300 : 100 },
  )
})

test('what has not landed stays as it is, even where a link has taken the place of a directory', async () => {
  const outside = tempDir(kept)
  const tree = tempDir({ 'd/x': 'old\n', 'd/y': 'old\n', 'e/f.txt': 'old\n' })
  const view = await makeView(lockedFolder(), [tree], 'copy', '')
  const source = view.views[0]?.source ?? ''
  rmSync(join(source, 'd'), { recursive: true })
  symlinkSync(outside, join(source, 'd'))
  writeFileSync(join(source, 'e/f.txt'), 'by the run\n')
  rmSync(join(tree, 'd'), { recursive: true })
  rmSync(join(tree, 'e'), { recursive: true })
  // Nobody says that the link has not landed, so what the run has put there goes, and nothing that it leads to.
  await refreshView(
    view,
    view.manifests().map((each) => new Map(each)),
    [join(tree, 'e/f.txt')],
  )
  expect(readdirSync(source)).toEqual(['e'])
  expect(snapshot(join(source, 'e'))['f.txt']).toContain('by the run')
  expect(readdirSync(outside).toSorted()).toEqual(Object.keys(kept).toSorted())
  expect(existsSync(join(outside, 'x'))).toBe(true)
})
