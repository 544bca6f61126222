import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access']
/** Options that make a shell start the program and redirect its standard streams as `where` says. */
const sending = (where: string) => ({ cwd: repository(), startedBy: ['sh', '-c', `exec "$@" ${where}`, 'sh'] })

describe.skipIf(!existsSync('/dev/full'))('where nothing more can be written to', () => {
  test('standard output, a run fails if its message is lost', async () => {
    const { code, stderr } = await exec([[say('ok')]], [...open, 'x'], sending('>/dev/full'))
    expect(code).toBe(1)
    expect(stderr).toContain("Standard output can't be written: ENOSPC")
    expect(stderr).not.toMatch(/\n {4}at /)
  })

  test('standard output, a run ends if its events are lost, and says why', async () => {
    const { code, stderr } = await exec([[say('never')]], [...open, '--experimental-json', 'x'], sending('>/dev/full'))
    expect(code).toBe(1)
    expect(stderr).toContain("Standard output can't be written: ENOSPC")
    expect(stderr).not.toContain('please report')
  })

  test('standard error, a run continues', async () => {
    const { code, events } = await exec([[say('ok')]], [...open, '--json', 'x'], sending('2>/dev/full'))
    expect(code).toBe(0)
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed' })
  })
})

test.each(['>&-', '2>&-', '<&- >&- 2>&-'])(
  'a run whose streams were closed (%s) ends like any other',
  async (closed) => {
    const { code, requests } = await exec([[say('ok')]], [...open, '--experimental-json', 'x'], sending(closed))
    expect([code, requests.length]).toEqual([0, 1])
  },
)

test('a reader that goes away ends nothing', async () => {
  const startedBy = ['bash', '-c', 'set -o pipefail; "$@" | head -n 1', 'bash']
  const { code, requests, stdout } = await exec([[say('ok')]], [...open, '--experimental-json', 'x'], {
    cwd: repository(),
    startedBy,
  })
  expect([code, requests.length]).toEqual([0, 1])
  expect(stdout.split('\n')).toHaveLength(2)
})

test.skipIf(needsBubblewrap())('a TMPDIR that is not there is done without', async () => {
  const { code, stderr } = await exec([[say('ok')]], ['x'], { cwd: repository(), env: { TMPDIR: '/no/such/folder' } })
  expect(code, stderr).toBe(0)
})
