import { expect, test } from 'vitest'
import { runManyChaos } from './run-chaos.ts'

test('runs with disturbed answers succeed on every wire, and each of their commands runs once', async () => {
  expect((await runManyChaos(9, 32)).failures).toEqual([])
})
