import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

testInBubblewrap('thousands of planted files are all moved away, and reported in a few lines', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace, protectedPaths: ['**/.mcp.json'] })
  const { result } = await run(sandbox, 'for i in $(seq 500); do mkdir d$i; echo {} > d$i/.mcp.json; done')
  const planted = result.denials.filter(({ kind }) => kind === 'quarantine')
  expect(planted).toHaveLength(21)
  expect(planted.at(-1)).toMatchObject({ subject: 'and 480 more', certainty: 'proven' })
  expect(existsSync(join(workspace, 'd1/.mcp.json'))).toBe(false)
  expect(existsSync(join(workspace, 'd500/.mcp.json'))).toBe(false)
  expect(JSON.stringify(result.denials).length).toBeLessThan(20_000)
})
