import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
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

describe.skipIf(!existsSync('/dev/full'))('without space for its output,', () => {
  const full = (program: string, home = tempDir()) => ({
    home,
    program: new URL(`../../../dist/bin/${program}.js`, import.meta.url).pathname,
    startedBy: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'],
  })

  test.skipIf(needsBubblewrap())('agent sandbox kills the command, fails, and says why', async () => {
    const ended = await agent(['sandbox', '--', 'sh', '-c', 'echo out; exec sleep 1000'], {
      ...full('agent'),
      cwd: tempDir(),
    })
    expect([ended.code, ended.stderr]).toEqual([
      1,
      "agent: Standard output can't be written: ENOSPC: no space left on device, write.\n",
    ])
  })

  test('apply-patch says whether the patch was applied', async () => {
    const [cwd, home] = [tempDir(), tempDir()]
    const stdin = '*** Begin Patch\n*** Add File: a\n+new\n*** End Patch\n'
    const lost = "Standard output can't be written: ENOSPC: no space left on device, write."
    const checked = await agent(['--check'], { ...full('apply-patch', home), cwd, stdin })
    expect([checked.code, checked.stderr, readdirSync(cwd)]).toEqual([1, `${lost} Nothing was changed.\n`, []])
    const applied = await agent([], { ...full('apply-patch', home), cwd, stdin })
    expect([applied.code, applied.stderr]).toEqual([1, `${lost} The patch was applied.\n`])
    expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('new\n')
    const undone = await agent(['undo'], { ...full('apply-patch', home), cwd })
    expect([undone.code, undone.stderr, existsSync(join(cwd, 'a'))]).toEqual([
      1,
      `${lost} The command was carried out.\n`,
      false,
    ])
  })
})

test.each(['sessions list', 'policy check -- ls', 'sandbox -- true', 'exec x', 'changes --last'])(
  'in a directory that was removed, agent %s reports that the current directory can’t be read',
  async (given) => {
    const ended = await agent(given.split(' '), {
      ...{ cwd: tempDir(), home: tempDir() },
      startedBy: ['sh', '-c', 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', 'sh'],
    })
    expect([ended.code, ended.stderr]).toEqual([
      2,
      "agent: The current directory can't be read, for example because it was removed. Change to another one and try again.\n",
    ])
  },
)

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
