import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { divideFiles } from '../../../engine/transaction/divide-files.ts'
import { testUnless } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

const test = testUnless(availableParallelism() > 1 ? undefined : 'files are copied by one thread on one processor')

/** Keys of files that don't exist, so many that a second thread is started. */
const missing = Array.from({ length: 1000 }, (_, index) => `missing-${index}`)

test('the second thread copies small files, and leaves everything else to the first', async () => {
  const [from, to] = [tempDir(), tempDir()]
  const outside = join(tempDir(), 'secret')
  for (const file of [outside, join(from, 'small'), join(from, 'é'), join(from, 'one')]) writeFileSync(file, 'some\n')
  writeFileSync(join(from, 'large'), Buffer.alloc(100_000))
  writeFileSync(join(from, 'there'), 'new\n')
  writeFileSync(join(to, 'there'), 'old\n')
  linkSync(join(from, 'one'), join(from, 'two'))
  symlinkSync(outside, join(from, 'link'))
  mkdirSync(join(from, 'directory'))
  execFileSync('mkfifo', [join(from, 'pipe')])
  const name = Buffer.from('é').toString('latin1')
  const keys = [...missing, 'small', name, 'one', 'two', 'large', 'there', 'link', 'directory', 'pipe', 'gone/file']
  const files = divideFiles(from, to, keys, 'copy')
  await files.ended()
  const finished = [...files.finished()]
  expect(files.claim()).toBeUndefined()
  expect(finished.map(({ key }) => key)).toEqual(keys.toReversed())
  expect(finished.flatMap(({ key, file }) => (file === undefined ? [] : [key]))).toEqual([name, 'small'])
  expect(readdirSync(to).toSorted()).toEqual(['small', 'there', 'é'])
  expect(readFileSync(join(to, 'there'), 'utf8')).toBe('old\n')
  expect([...files.finished()]).toEqual([])
})

test('each file is claimed once, by either thread', async () => {
  const [from, to] = [tempDir(), tempDir()]
  const keys = Array.from({ length: 3000 }, (_, index) => `${index}`)
  for (const key of keys) writeFileSync(join(from, key), key)
  const files = divideFiles(from, to, keys, 'copy')
  const own: string[] = []
  for (let key = files.claim(); key !== undefined; key = files.claim()) own.push(key)
  await files.ended()
  const finished = [...files.finished()].map(({ key }) => key)
  expect([...own, ...finished.toReversed()]).toEqual(keys)
  expect(readdirSync(to)).toHaveLength(finished.length)
})

test('after it was stopped, the second thread copies nothing more', async () => {
  const [from, to] = [tempDir(), tempDir()]
  const keys = Array.from({ length: 3000 }, (_, index) => `${index}`)
  for (const key of keys) writeFileSync(join(from, key), key)
  const files = divideFiles(from, to, keys, 'copy')
  await files.stop()
  const copied = readdirSync(to)
  expect([...files.finished()].map(({ key }) => key).toSorted()).toEqual(copied.toSorted())
  expect(files.claim()).toBeUndefined()
  expect(copied.length).toBeLessThan(keys.length)
})
