import { expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { exec, repository } from '../../support/workspace.ts'

test('GPT gets a session for a command that takes longer than 10 s, and waits for its end', async () => {
  const { code, stderr, requests } = await exec(
    [
      [call('exec_command', { cmd: 'echo first; until [ -e go ]; do sleep 0.1; done; echo last' })],
      [call('exec_command', { cmd: 'touch go' })],
      [call('write_stdin', { session_id: 1, yield_time_ms: 300_000 })],
      [say('done')],
    ],
    ['-s', 'danger-full-access', 'go'],
    { cwd: repository() },
  )
  expect(code, stderr).toBe(0)
  const outputs = (requests.at(-1)?.body as { input: { type: string; output?: string }[] }).input.flatMap(
    ({ type, output = '' }) => (type === 'function_call_output' ? [output] : []),
  )
  expect(outputs).toEqual([
    expect.stringMatching(/^Process running with session ID 1\n[^]*\nfirst$/),
    expect.stringMatching(/^Process exited with code 0\n/),
    expect.stringMatching(/^Process exited with code 0\n[^]*\nlast$/),
  ])
})
