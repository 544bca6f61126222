import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { entriesIn } from '../../sandbox/directory-names.ts'
import { createGitScanner } from '../../sandbox/git/git-scanner.ts'
import { nestedNames } from '../../sandbox/nested-places.ts'
import { mountWithoutFractions } from '../support/loop-file-system.ts'
import { testUnless } from '../support/needs.ts'

const disk = mountWithoutFractions()
const coarseTest = testUnless(typeof disk === 'string' ? disk : undefined, test)
const place = typeof disk === 'string' ? '' : disk.directory
afterAll(() => (typeof disk === 'string' ? undefined : disk.close()))

/** Creates a directory early in a second, and waits until its time stamp is more than 100 ms old, but still in the same second. */
async function agedDirectory(name: string): Promise<string> {
  await sleep(1200 - (Date.now() % 1000))
  const path = join(place, name)
  mkdirSync(path)
  await sleep(200)
  return path
}

coarseTest(
  'a repository that is created in the same second as its parent directory is found by the next scan',
  async () => {
    const directory = await agedDirectory('scanned')
    const scanner = createGitScanner()
    const paths = (): readonly string[] => {
      return scanner.scan(directory, nestedNames([], directory), () => 'nothing').directories
    }
    expect(paths()).toEqual([])
    mkdirSync(join(directory, '.git'))
    expect(paths()).toEqual([join(directory, '.git')])
  },
)

coarseTest('a file that is created in the same second as its directory is listed', async () => {
  const directory = await agedDirectory('listed')
  expect(entriesIn(directory)).toEqual([])
  writeFileSync(join(directory, 'a'), '')
  expect(entriesIn(directory)).toEqual(['a'])
})
