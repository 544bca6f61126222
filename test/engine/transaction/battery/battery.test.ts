import { expect, test } from 'vitest'
import { needsBubblewrap, needsPrograms, testUnless, whyNoBubblewrap } from '../../../support/needs.ts'
import { whyNoOverlay } from '../overlay-runs.ts'
import { changes } from './changes.ts'
import { ends, everythingHappens, nothingHappens } from './run-battery.ts'

needsBubblewrap()
const missing = whyNoBubblewrap() ?? (needsPrograms('sqlite3', 'npm') ? 'sqlite3 or npm is not installed' : undefined)
const missingFor = { copy: missing, overlay: missing ?? whyNoOverlay() }
// All kinds of change are made together, in runs that end in some of the possible ways. `npm run soak -- --only transactions` tries all ways to end,
// and also each kind of change by itself.
const some = ends.filter(({ name }) => ['failed verify', 'SIGKILL', 'SIGKILL of the sandbox'].includes(name))

for (const strategy of ['copy', 'overlay'] as const) {
  const one = testUnless(missingFor[strategy], test)
  one.each(some)(`with ${strategy}, a tree stays unchanged if its run ends by $name`, async (end) => {
    expect(await nothingHappens(strategy, end, changes)).toEqual([])
  })

  one(`with ${strategy}, a run does the same as without the flag, and one undo reverts it`, async () => {
    // The largest file is tested in large-files.test.ts, because comparing it takes longer than comparing all other files together.
    const most = changes.filter(({ name }) => name !== 'sparse 2 GB')
    expect(await everythingHappens(strategy, most)).toEqual([])
  })
}
