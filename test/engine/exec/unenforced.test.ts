import { expect, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

test.skipIf(needsBubblewrap())('a default limit that cannot be enforced is named at the end of a run', async () => {
  // Control groups would be created below /sys, which is read-only here.
  const startedBy = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', '/sys', '/sys', '--']
  const { code, events, stderr } = await exec([[say('done')]], ['--json', '-v', 'go'], { cwd: repository(), startedBy })
  expect(code).toBe(0)
  expect(stderr).toContain('not enforced here: memory is limited for each process')
  expect(events.at(-1)).toMatchObject({
    sandbox_unenforced: expect.arrayContaining([expect.stringContaining('memory is limited for each process')]),
  })
})
