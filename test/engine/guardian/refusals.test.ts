import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

const run = (cmd: string) => call('exec_command', { cmd })
const untrusted = ['--json', '--ask-for-approval', 'untrusted', 'x']

describe.skipIf(needsBubblewrap())('a model that keeps asking for what is refused, with nobody there', () => {
  test('ends the run at the third attempt in another way, with exit code 3', async () => {
    const cwd = repository()
    const patch = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n'
    const { code, events, requests } = await exec(
      [[run('touch a')], [freeform('apply_patch', patch)], [run(`python3 -c 'open("a", "w")'`)], [say('never')]],
      untrusted,
      { cwd },
    )
    expect(code).toBe(3)
    expect(requests).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'stoppedByGuardian', denied: 3 })
    expect(JSON.stringify(requests[1]?.body)).not.toContain('a third attempt ends the run')
    expect(JSON.stringify(requests[2]?.body)).toContain('a third attempt ends the run')
    expect(existsSync(join(cwd, 'a'))).toBe(false)
  })

  test('continues if it requests something else each time, and ends with exit code 3 because no call ran', async () => {
    const { code, requests } = await exec(
      [[run('touch a')], [run('touch b')], [run('mkdir c')], [run('touch d')], [say('I could not write.')]],
      untrusted,
      { cwd: repository() },
    )
    expect([code, requests.length]).toEqual([3, 5])
    expect(JSON.stringify(requests.at(-1)?.body)).not.toContain('a third attempt ends the run')
  })

  test('is not ended by refused look-ups that its task does not need', async () => {
    const page = (name: string) => call('web_fetch', { url: `https://docs.example.com/${name}` })
    const replies = [[page('a')], [page('b')], [page('c')], [page('d')], [run('ls')], [say('done')]]
    const { code, requests } = await exec(replies, untrusted, { cwd: repository() })
    expect(code).toBe(0)
    expect(JSON.stringify(requests[2]?.body)).toContain('Two responses in a row requested only things that are refused')
    expect(JSON.stringify(requests[2]?.body)).not.toContain('a third attempt ends the run')
  })

  test('is ended by endless refused look-ups', async () => {
    const page = (name: number) => call('web_fetch', { url: `https://host-${name}.example.com/` })
    const { code, requests } = await exec((index) => [page(index)], untrusted, { cwd: repository() })
    expect(code).toBe(3)
    expect(requests).toHaveLength(10)
  })

  test('continues as long as other calls succeed in between', async () => {
    const { code } = await exec(
      [
        [run('touch a')],
        [run('touch b')],
        [run('touch c'), run('ls')],
        [run('touch d')],
        [run('touch e')],
        [say('ok')],
      ],
      untrusted,
      { cwd: repository() },
    )
    expect(code).toBe(0)
  })

  test('continues after many refusals in one response, because the calls were made at once', async () => {
    const calls = Array.from({ length: 12 }, (_, at) => run(`touch a${at}`))
    const { code, events } = await exec([calls, [say('ok')]], untrusted, { cwd: repository() })
    expect(code).toBe(0)
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 12 })
  })
})
