import { expect } from 'vitest'
import { openFor, temporaryDirectory, testInBubblewrap } from './helpers.ts'

testInBubblewrap('a command that is stopped at any moment of its start is gone, and its result is there', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  for (let delay = -1; delay < 24; delay += 5) {
    const controller = new AbortController()
    if (delay < 0) controller.abort()
    const started = sandbox.spawn({ argv: ['sleep', '600'], cwd: workspace, signal: controller.signal })
    if (delay >= 0) setTimeout(() => controller.abort(), delay)
    expect(await started.result).toMatchObject({ status: 'cancelled' })
  }
})
