import { expect } from 'vitest'
import { openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

testInBubblewrap(
  'commands that start at the same moment in a workspace below /tmp don’t get in each other’s way',
  async () => {
    const fresh = await Promise.all(
      Array.from({ length: 10 }, async () =>
        openFor({ mode: 'workspace-write', workspace: await temporaryDirectory() }),
      ),
    )
    const ended = await Promise.all(fresh.flatMap((each) => Array.from({ length: 6 }, () => run(each, 'echo a'))))
    expect(new Set(ended.map(({ stdout }) => stdout))).toEqual(new Set(['a\n']))
  },
)
