import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { needsBubblewrap, testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { makeTree, changes } from './battery/changes.ts'
import { everythingHappens } from './battery/run-battery.ts'
import { mountXfs } from '../../support/loop-file-system.ts'
import { cmd, onOverlay, reportOf } from './overlay-runs.ts'

needsBubblewrap()
const xfs = mountXfs(1024)
const reason = typeof xfs === 'string' ? xfs : undefined
const reflinkTest = testUnless(whyNoBubblewrap() ?? reason, test)

const place = typeof xfs === 'string' ? '' : xfs.directory
afterAll(() => (typeof xfs === 'string' ? undefined : xfs.close()))

reflinkTest('a view shares the blocks of its tree if the file system can', async () => {
  const [cwd, home] = [join(place, 'tree'), join(place, 'home')]
  for (const directory of [cwd, home]) mkdirSync(directory)
  makeTree(cwd)
  const ended = await onOverlay(cwd, [cmd('echo x > overwrite.txt')], { how: 'auto', home })
  expect(reportOf(ended)).toMatchObject({ strategy: 'reflink', outcome: 'landed' })
  expect(readFileSync(join(cwd, 'overwrite.txt'), 'utf8')).toBe('x\n')
})

reflinkTest('with reflink, a run does the same as without the flag, and one undo reverts it', async () => {
  // The largest file is tested in large-files.test.ts, because comparing it takes longer than all other changes together.
  const most = changes.filter(({ name }) => name !== 'sparse 2 GB')
  expect(await everythingHappens('reflink', most, place)).toEqual([])
})
