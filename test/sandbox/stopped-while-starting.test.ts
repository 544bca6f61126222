import { expect } from 'vitest'
import { eventually, openFor, temporaryDirectory, testInBubblewrap } from './helpers.ts'
import { makeStage } from './kill-tools.ts'

testInBubblewrap('a command that is stopped at any moment of its start ends, and has a result', async () => {
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

testInBubblewrap('an engine that is killed at any moment of a start leaves no command running', async () => {
  const stage = await makeStage({}, { backend: 'bubblewrap' })
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const engine = await stage.start({ script: 'touch ran; sleep 600' })
    // The engines are killed in the first three milliseconds, in which bwrap creates its namespaces and ties its processes to each other.
    const until = performance.now() + attempt / 3
    while (performance.now() < until);
    engine.child.kill('SIGKILL')
    await engine.driven
  }
  await eventually(() => !stage.leftovers().some((left) => left.startsWith('process ')))
  // The next start is not delayed, and removes what was left behind.
  expect(await (await stage.start({ script: 'true' })).driven).toMatchObject({ result: { status: 'exited', code: 0 } })
  expect(stage.leftovers()).toEqual([])
})
