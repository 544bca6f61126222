import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

/** A run of two calls, its audit log, and the head that its last event tells. */
async function audited() {
  const home = tempDir()
  const cwd = repository()
  const calls = [call('exec_command', { cmd: 'true' }), call('exec_command', { cmd: 'git clean -fdx' })]
  const { events } = await exec([calls, [say('ok')]], ['--json', 'x'], { cwd, home })
  const last = events.at(-1)
  const [started] = events
  if (last?.type !== 'turn.completed' || started?.type !== 'thread.started') throw new Error('the run did not complete')
  const log = join(home, '.local/state/portcullis/sessions', started.thread_id, 'audit.jsonl')
  const verify = (...flags: readonly string[]) => agent(['audit', 'verify', ...flags, log], { cwd, home })
  return { events, log, head: last.audit_head ?? '', verify, cwd, home }
}

describe.skipIf(needsBubblewrap())('the last event of a run', () => {
  test('says how far the audit log has come', async () => {
    const { head, verify } = await audited()
    expect(head).toMatch(/^2:[0-9a-f]{64}$/)
    expect(await verify('--head', head)).toMatchObject({ code: 0, stdout: expect.stringContaining('2 records, whole') })
  })

  test('tells that a log was cut together with the note beside it', async () => {
    const { log, head, verify } = await audited()
    const [first = ''] = readFileSync(log, 'utf8').split('\n')
    const { records, hash } = cutTo(log, first)
    expect(records).toBe(1)
    expect((await verify()).code).toBe(0)
    expect(await verify('--head', head)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(':2: the log ends at record 1, and the head given is that of record 2'),
    })
    expect((await verify('--head', `1:${hash}`)).code).toBe(0)
  })

  test('still fits a log that the same session went on with', async () => {
    const { head, verify, cwd, home } = await audited()
    await exec([[call('exec_command', { cmd: 'ls' })], [say('ok')]], ['resume', '--last', '--json', 'y'], { cwd, home })
    expect(await verify('--head', head)).toMatchObject({ code: 0, stdout: expect.stringContaining('3 records, whole') })
  })

  test('fits no log that was written anew', async () => {
    const { head, verify } = await audited()
    expect(await verify('--head', `${head.slice(0, -4)}0000`)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(':2: record 2 is not the one that the head given is of'),
    })
  })

  test('given wrong is an error of usage', async () => {
    const { verify } = await audited()
    expect(await verify('--head', 'abc')).toMatchObject({ code: 2, stderr: expect.stringContaining('RECORDS:HASH') })
  })

  test('has a verdict and who gave it on every command before it', async () => {
    const { events } = await audited()
    const verdicts = events.flatMap((event) =>
      event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item.verdict] : [],
    )
    expect(verdicts).toMatchObject([
      { decision: 'allow', decided_by: 'analysis', reason: expect.any(String) },
      { decision: 'deny', decided_by: 'reviewer:nobody', reason: expect.any(String) },
    ])
  })
})

/** Cuts a log to one line, and makes the note beside it agree. */
function cutTo(log: string, line: string): { readonly records: number; readonly hash: string } {
  if (!existsSync(`${log}.head`)) throw new Error('there is no note beside the log')
  const next = JSON.parse(readFileSync(log, 'utf8').split('\n')[1] ?? '') as { previous: string }
  const head = { records: 1, hash: next.previous }
  writeFileSync(log, `${line}\n`)
  writeFileSync(`${log}.head`, `${JSON.stringify(head)}\n`)
  return head
}
