import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import {
  applyPatch,
  commit,
  parsePatch,
  planPatch,
  renderFailure,
  undo,
  unifiedDiff,
} from '../../../apply-patch/index.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { MiB, replacing, sparse } from './large-files.ts'

const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

test('a commit of files that are not held in memory is undone, though more than 64 MB were replaced', async () => {
  const [root, stateDirectory, store] = [tempDir(), tempDir(), tempDir()]
  const old = {
    replaced: hash(sparse(join(root, 'replaced'), 70, 'old')),
    removed: hash(sparse(join(root, 'removed'), 66, 'r')),
  }
  const stored = sparse(join(store, 'new'), 80, 'new')
  const report = await commit(replacing(root, stored), { stateDirectory })
  expect(report.canUndo).toBe(true)
  expect(readdirSync(root).toSorted()).toEqual(['added', 'replaced'])
  expect([hash(join(root, 'added')), hash(join(root, 'replaced'))]).toEqual([hash(stored), hash(stored)])

  await undo(root, { stateDirectory })
  expect(readdirSync(root).toSorted()).toEqual(['removed', 'replaced'])
  expect({ replaced: hash(join(root, 'replaced')), removed: hash(join(root, 'removed')) }).toEqual(old)
  // A hole stays a hole in the journal and in the restored file.
  expect(statSync(join(root, 'replaced')).blocks * 512).toBeLessThan(4 * MiB)
})

test('a patch may delete a file of more than 512 MiB, and refuses to change, move or replace it, with a message', async () => {
  const [root, stateDirectory] = [tempDir(), tempDir()]
  sparse(join(root, 'large'), 513, 'a\nb\n')
  writeFileSync(join(root, 'small'), 'x\n')
  for (const operation of [
    'Update File: large\n@@\n-a\n+c',
    'Update File: large\n*** Move to: other',
    'Update File: small\n*** Move to: large',
    'Add File: large\n+c',
  ]) {
    const text = `*** Begin Patch\n*** ${operation}\n*** End Patch\n`
    const error: unknown = await applyPatch(text, { root, stateDirectory }).catch((thrown: unknown) => thrown)
    expect(renderFailure(error)).toMatch(/larger than 512 MiB.*\n?.*use another program/)
    expect(readdirSync(root).toSorted()).toEqual(['large', 'small'])
  }
  const text = '*** Begin Patch\n*** Delete File: large\n*** End Patch\n'
  const { patch } = parsePatch(text)
  const changeSet = await planPatch(patch, { root })
  expect(unifiedDiff(changeSet)).toMatch(/^deleted file mode 100644\nBinary files a\/large and b\/large differ$/m)
  await commit(changeSet, { stateDirectory })
  expect(readdirSync(root)).toEqual(['small'])
})

test('a file that is not held in memory is refused if somebody wrote to it after planning', async () => {
  const [root, stateDirectory, store] = [tempDir(), tempDir(), tempDir()]
  sparse(join(root, 'replaced'), 2, 'old')
  sparse(join(root, 'removed'), 2, 'r')
  const changeSet = replacing(root, sparse(join(store, 'new'), 3, 'new'))
  const descriptor = openSync(join(root, 'replaced'), 'r+')
  writeSync(descriptor, 'user', MiB)
  closeSync(descriptor)
  await expect(commit(changeSet, { stateDirectory })).rejects.toMatchObject({ code: 'changed', tree: 'unchanged' })
  expect(readdirSync(root).toSorted()).toEqual(['removed', 'replaced'])
})

test('stored bytes that change while they are written are not committed', async () => {
  const [root, stateDirectory, store] = [tempDir(), tempDir(), tempDir()]
  sparse(join(root, 'replaced'), 1, 'old')
  sparse(join(root, 'removed'), 1, 'r')
  const stored = sparse(join(store, 'new'), 3, 'new')
  const changeSet = replacing(root, stored)
  writeFileSync(stored, 'short')
  await expect(commit(changeSet, { stateDirectory })).rejects.toMatchObject({ tree: 'unchanged' })
  expect(readdirSync(root).toSorted()).toEqual(['removed', 'replaced'])
})

test('the memory that a commit and its undo use does not grow with the files', () => {
  const peak = (mebibytes: number): number => {
    const [root, store] = [tempDir(), tempDir()]
    for (const name of ['replaced', 'removed']) sparse(join(root, name), mebibytes, name)
    const stored = sparse(join(store, 'new'), mebibytes, 'new')
    const importOf = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)
    const program = `
      import { commit, undo } from ${importOf('../../../apply-patch/index.ts')}
      import { replacing } from ${importOf('large-files.ts')}
      const { root, stored, stateDirectory } = ${JSON.stringify({ root, stored, stateDirectory: tempDir() })}
      await commit(replacing(root, stored), { stateDirectory })
      await undo(root, { stateDirectory })
      process.stdout.write(String(process.resourceUsage().maxRSS / 1024))`
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    expect(run.stderr).toBe('')
    return Number(run.stdout)
  }
  const [small, large] = [peak(2), peak(600)]
  expect(large - small).toBeLessThan(100)
})
