import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { exec, repository } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access', '--json']
const circle: Reply = [call('exec_command', { cmd: 'sleep 0.05; echo same' })]

describe('the same call with the same result', () => {
  test('is reported to the model the third time, and ends the run with exit code 4 the sixth time', async () => {
    const { code, events, requests } = await exec(() => circle, [...open, 'x'], { cwd: repository() })
    expect(code).toBe(4)
    expect(requests).toHaveLength(6)
    const told = requests.map(({ body }) => (JSON.stringify(body).match(/\d times in a row, with/g) ?? []).at(-1))
    expect(told).toEqual([undefined, undefined, undefined, '3', '4', '5'].map((n) => n && `${n} times in a row, with`))
    expect(events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'budget',
      error: { message: expect.stringContaining('The same call to exec_command was made 6 times in a row') },
    })
  })

  test('is not reported if another call, or another result, comes between', async () => {
    const { code, requests } = await exec(
      (index) => (index === 12 ? [say('ok')] : [call('exec_command', { cmd: index % 3 === 0 ? 'true' : 'date +%N' })]),
      [...open, 'x'],
      { cwd: repository() },
    )
    expect(code).toBe(0)
    expect(JSON.stringify(requests.at(-1)?.body)).not.toContain('times in a row')
  })
})
