import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const test = testUnless(whyNoBubblewrap())

/** Performs a transactional run with one command, and returns the id of its session. */
async function landed(command: string, at: { readonly cwd: string; readonly home: string }): Promise<string> {
  const replies = [[call('exec_command', { cmd: command })], [say('done')]]
  const { code, events, stderr } = await exec(replies, ['--json', 'x'], at)
  expect(code, stderr).toBe(0)
  const [first] = events
  return first?.type === 'thread.started' ? first.thread_id : ''
}

test('agent undo names the later run that has to be reverted first, until none is left', async () => {
  const at = { cwd: repository({ 'a.txt': 'a\n' }), home: tempDir() }
  const first = await landed('echo 1 > a.txt', at)
  const second = await landed('echo 2 > a.txt', at)
  const third = await landed('echo 3 > a.txt', at)
  for (const [session, later] of [
    [first, third],
    [second, third],
  ]) {
    const { code, stderr } = await agent(['undo', session ?? ''], at)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        `Nothing was reverted. The landing is no longer the last patch of ${at.cwd}. First revert what a later run landed: run agent undo ${later}.`,
      ),
    ])
  }
  expect((await agent(['undo', third], at)).code).toBe(0)
  expect((await agent(['undo', first], at)).stderr).toContain(`run agent undo ${second}.`)
  for (const session of [second, first]) expect((await agent(['undo', session], at)).code).toBe(0)
  expect(readFileSync(join(at.cwd, 'a.txt'), 'utf8')).toBe('a\n')
})

test('agent undo names apply-patch undo if no session applied the later patch', async () => {
  const at = { cwd: repository({ 'a.txt': 'a\n' }), home: tempDir() }
  const session = await landed('echo 1 > a.txt', at)
  const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
  const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-1\n+2\n*** End Patch\n'
  const env = { ...process.env, HOME: at.home, XDG_STATE_HOME: '' }
  execFileSync(process.execPath, [program], { cwd: at.cwd, env, input: patch })
  expect((await agent(['undo', session], at)).stderr).toContain(
    'First revert the later patches: run apply-patch undo there.',
  )
})
