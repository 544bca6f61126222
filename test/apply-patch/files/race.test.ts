import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { CommitError, PathError, ReadError, commitChangeSet, openTree } from '../../../apply-patch/files/index.ts'
import { add, changeSet, move, remove, update } from './change-tools.ts'
import { fill, makeScene, snapshot } from './tree-tools.ts'

/** Starts a process that runs a module in parallel with this test. */
async function start(module: string, args: readonly string[]) {
  const child = spawn(process.execPath, [new URL(module, import.meta.url).pathname, ...args])
  const ended = once(child, 'close')
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return {
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

test('while a directory is swapped for a link in a loop, no commit writes, moves or removes anything outside', async () => {
  const { root, outside, state } = makeScene({ 'sub/x': '0' })
  fill(outside, { x: 'theirs', y: 'theirs', added: 'theirs' })
  const before = snapshot(outside)
  const swapper = await start('swap.ts', [join(root, 'sub'), outside])
  const outcomes = { done: 0, refused: 0 }
  const until = Date.now() + 4000
  for (let round = 1; Date.now() < until; round += 1) {
    try {
      const tree = openTree(root, { unsafePaths: false })
      const added = add(tree, 'sub/added', 'n')
      const moved = added.before.type === 'absent' ? move(tree, 'sub/x', 'sub/y') : move(tree, 'sub/y', 'sub/x')
      const other = added.before.type === 'absent' ? added : remove(tree, 'sub/added')
      await commitChangeSet(changeSet(tree, [...moved, other]), { stateDirectory: state })
      outcomes.done += 1
    } catch (error) {
      const isOurs = error instanceof CommitError || error instanceof PathError || error instanceof ReadError
      // All other errors come from a helper of this test that didn't find the expected file.
      if (!isOurs) expect(String(error)).toMatch(/is (?:absent|symlink)/)
      outcomes.refused += 1
    }
    expect(snapshot(outside)).toEqual(before)
    await sleep(0)
  }
  await swapper.stop()
  expect(snapshot(outside)).toEqual(before)
  // Some commits succeeded, and others were refused because `sub` was a symlink at the time.
  expect(outcomes).toEqual({ done: expect.toSatisfy((n) => n > 0), refused: expect.toSatisfy((n) => n > 0) })
})

test('two runs on one tree wait for each other, and the later one is refused because the file has changed', async () => {
  const { root, state } = makeScene({ a: 'old', b: 'b' })
  const tree = openTree(root, { unsafePaths: false })
  const runs = ['one', 'two', 'three'].map((text) =>
    changeSet(tree, [update(tree, 'a', text), update(tree, 'b', text)]),
  )
  const results = await Promise.allSettled(runs.map((run) => commitChangeSet(run, { stateDirectory: state })))
  const done = results.filter(({ status }) => status === 'fulfilled')
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(done).toHaveLength(1)
  expect(refused).toEqual([
    expect.objectContaining({ code: 'changed', tree: 'unchanged' }),
    expect.objectContaining({ code: 'changed', tree: 'unchanged' }),
  ])
  const found = snapshot(root)
  expect(found['a']?.split(' ').at(-1)).toBe(found['b']?.split(' ').at(-1))
})

test('commits of many processes on one tree take turns, and none mistakes another for a crash', async () => {
  const { root, state } = makeScene({ a: '0' })
  const program = join(root, '../turns.ts')
  const library = new URL('../../../apply-patch/files/index.ts', import.meta.url).pathname
  writeFileSync(
    program,
    `import { commitChangeSet, openTree } from ${JSON.stringify(library)}
     for (let done = 0; done < 15; ) {
       const tree = openTree(${JSON.stringify(root)}, { unsafePaths: false })
       const place = tree.locate('a')
       const before = tree.read(place)
       const content = [Buffer.from(String(Number(before.bytes.toString()) + 1))]
       const change = { type: 'write', place, before, content, mode: before.mode, owner: undefined }
       const set = { root: tree.root, unsafePaths: false, changes: [change], summary: [], warnings: [] }
       try {
         const { recovered } = await commitChangeSet(set, { stateDirectory: ${JSON.stringify(state)} })
         if (recovered.length > 0) throw new Error('took a live run for a crash')
         done += 1
       } catch (error) {
         if (error.code !== 'changed' && error.code !== 'unreadable') throw error
       }
     }`,
  )
  const children = [1, 2, 3].map(() => spawn(process.execPath, [program], { stdio: 'inherit' }))
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'close'))[0]))
  expect(codes).toEqual([0, 0, 0])
  // All 45 additions took effect, so no update was lost.
  expect(snapshot(root)).toEqual({ a: expect.stringMatching(/ 45$/) })
})
