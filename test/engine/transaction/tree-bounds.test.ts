import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { UserError } from '../../../engine/core/user-error.ts'
import { isRecorded } from '../../../engine/transaction/left-in-view.ts'
import { makeView } from '../../../engine/transaction/private-view.ts'
import { recordChanges, type RecordBounds } from '../../../engine/transaction/record-changes.ts'
import { suitsCopy } from '../../../engine/transaction/suits-copy.ts'
import { openSandbox, parsePolicy, treeBounds } from '../../../sandbox/index.ts'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { lockedFolder } from './locked-folder.ts'

const testInSandbox = testUnless(whyNoBubblewrap())

/** A copied view of a repository, and a function that records what was changed in it, within these bounds. */
async function openView(files: Readonly<Record<string, string>> = { 'a.txt': 'a\n' }) {
  const [tree, directory] = [repository(files), lockedFolder()]
  const view = await makeView(directory, [tree], 'copy', 'overlays are not tried')
  const sandbox = await openSandbox(parsePolicy({ mode: 'read-only', workspace: tree, views: [...view.views] }))
  onTestFinished(() => sandbox.close())
  const record = (bounds: {
    readonly tree?: Partial<RecordBounds['tree']>
    readonly changes?: Partial<RecordBounds['tree']>
  }) =>
    recordChanges(view, sandbox, true, {
      tree: { ...treeBounds, ...bounds.tree },
      changes: { ...treeBounds, ...bounds.changes },
    })
  return { view, tree, source: view.views[0]?.source ?? '', record }
}

const fill = (source: string, directories: number): void => {
  for (let number = 0; number < directories; number += 1) mkdirSync(join(source, `d${number}`))
}

testInSandbox('a view with more entries than a landing looks through keeps its changes and says why', async () => {
  const { view, source, record, tree } = await openView()
  fill(source, 300)
  const refused = record({ tree: { entries: 300 } })
  await expect(refused).rejects.toThrow(UserError)
  await expect(refused).rejects.toThrow(
    /^Nothing was landed, and the tree is as it was: there are more than 300 entries in \S+, which is more than one landing can handle\. The run's private view still has all of them\. Continue the session with agent exec resume \S+ to remove what isn't needed/,
  )
  await expect(refused).rejects.toThrow(tree)
  expect(readdirSync(source)).toHaveLength(302)
  expect((await record({})).changes).toHaveLength(300)
  expect(existsSync(join(view.directory, 'changes'))).toBe(true)
})

const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, number) => [`f${number}`, '']))

testInSandbox.for([
  { what: 'new directories', files: {}, change: (source: string) => fill(source, 20) },
  {
    what: 'removed files',
    files: twenty,
    change: (source: string) => Object.keys(twenty).forEach((name) => rmSync(join(source, name))),
  },
])('a run with more changes than a landing can hold keeps them: $what', async ({ files, change }) => {
  const { source, record } = await openView(files)
  change(source)
  // The tree's own repository counts like a change.
  await expect(record({ changes: { entries: 20 } })).rejects.toThrow(
    "there are more than 20 entries in the run's changes",
  )
  await expect(record({ changes: { bytes: 30 } })).rejects.toThrow("the paths in the run's changes have more than")
  expect((await record({ changes: { entries: 21 } })).changes).toHaveLength(20)
})

testInSandbox('what a walk made readable is closed again when it ends at a bound', async () => {
  const { source, record } = await openView()
  fill(source, 3)
  for (const name of ['d0', 'd1', 'd2']) {
    writeFileSync(join(source, name, 'file'), '')
    chmodSync(join(source, name), 0o000)
  }
  await expect(record({ tree: { entries: 5 } })).rejects.toThrow('more than 5 entries')
  expect(['d0', 'd1', 'd2'].map((name) => statSync(join(source, name)).mode & 0o777)).toEqual([0, 0, 0])
})

testInSandbox('a recorded view that has become too large to look through counts as not recorded', async () => {
  const { view, source, record } = await openView()
  const known = await record({})
  expect(await isRecorded(view, known)).toBe(true)
  fill(source, 10)
  expect(await isRecorded(view, known, { ...treeBounds, entries: 5 })).toBe(false)
})

test('a tree of very many directories is not copied unasked', async () => {
  const [tree, folder] = [tempDir(), tempDir()]
  fill(tree, 30)
  expect(await suitsCopy([tree], folder, { files: 30, bytes: 1e9 })).toBe(true)
  expect(await suitsCopy([tree], folder, { files: 29, bytes: 1e9 })).toBe(false)
})
