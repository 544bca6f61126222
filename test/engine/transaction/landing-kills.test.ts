import { expect } from 'vitest'
import { whyNoStrace } from '../../apply-patch/files/strace.ts'
import { needsBubblewrap, testUnlessOnCi, whyNoBubblewrap } from '../../support/needs.ts'
import { killLandings } from './landing-kills.ts'

needsBubblewrap()

// One call in twenty-four; `npm run soak -- --only transactions` has all.
testUnlessOnCi(whyNoBubblewrap() ?? whyNoStrace())(
  'a landing that is killed leaves all old or all new, and can be made again',
  async () => {
    const { tried, failures } = await killLandings(24)
    expect(failures).toEqual([])
    expect(tried).toBeGreaterThan(3)
  },
)
