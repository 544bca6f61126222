import { expect } from 'vitest'
import { whyNoStrace } from '../../apply-patch/files/strace.ts'
import { needsBubblewrap, testUnlessOnCi, whyNoBubblewrap } from '../../support/needs.ts'
import { killLandings } from './landing-kills.ts'

needsBubblewrap()

// The landing is killed only at every 24th or 32nd system call that changes a file system. `npm run soak -- --only transactions` tries all of them.
for (const [what, every, withCommits] of [
  ['a landing', 24, false],
  ['a landing with commits, to which the branch moves,', 32, true],
] as const)
  testUnlessOnCi(whyNoBubblewrap() ?? whyNoStrace())(
    `${what} that is killed leaves all old or all new, and can be made again`,
    { timeout: 600_000 },
    async () => {
      const { tried, failures } = await killLandings(every, withCommits)
      expect(failures).toEqual([])
      expect(tried).toBeGreaterThan(3)
    },
  )
