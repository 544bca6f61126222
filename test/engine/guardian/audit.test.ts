import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { isRunning } from '../../support/is-running.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

/** A run of two calls, its audit log, and the log's head (its number of records and its last hash) from the run's last event. */
async function audited() {
  const home = tempDir()
  const cwd = repository()
  const calls = [call('exec_command', { cmd: 'true' }), call('exec_command', { cmd: 'git push --force' })]
  const { events } = await exec([calls, [say('ok')]], ['--json', 'x'], { cwd, home })
  const last = events.at(-1)
  const [started] = events
  if (last?.type !== 'turn.completed' || started?.type !== 'thread.started') throw new Error('the run did not complete')
  const log = join(home, '.local/state/portcullis/sessions', started.thread_id, 'audit.jsonl')
  const verify = (...flags: readonly string[]) => agent(['audit', 'verify', ...flags, log], { cwd, home })
  return { events, log, head: last.audit_head ?? '', verify, cwd, home }
}

describe.skipIf(needsBubblewrap())('the last event of a run', () => {
  test('gives the number of records and the last hash of the audit log', async () => {
    const { head, verify } = await audited()
    expect(head).toMatch(/^2:[0-9a-f]{64}$/)
    expect(await verify('--head', head)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 records, intact'),
    })
  })

  test('shows that a log was cut, even if the note next to it was changed too', async () => {
    const { log, head, verify } = await audited()
    const [first = ''] = readFileSync(log, 'utf8').split('\n')
    const { records, hash } = cutTo(log, first)
    expect(records).toBe(1)
    expect((await verify()).code).toBe(0)
    expect(await verify('--head', head)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(':2: the log ends at record 1, but the given head is that of record 2'),
    })
    expect((await verify('--head', `1:${hash}`)).code).toBe(0)
  })

  test('still matches a log that the same session continued', async () => {
    const { head, verify, cwd, home } = await audited()
    await exec([[call('exec_command', { cmd: 'ls' })], [say('ok')]], ['resume', '--last', '--json', 'y'], { cwd, home })
    expect(await verify('--head', head)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('3 records, intact'),
    })
  })

  test('does not match a rewritten log', async () => {
    const { head, verify } = await audited()
    expect(await verify('--head', `${head.slice(0, -4)}0000`)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(":2: record 2 doesn't match the given head"),
    })
  })

  test('is a usage error if it is malformed', async () => {
    const { verify } = await audited()
    expect(await verify('--head', 'abc')).toMatchObject({ code: 2, stderr: expect.stringContaining('RECORDS:HASH') })
  })

  test('has a verdict, and who gave it, before every command', async () => {
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

type AuditRecord = {
  readonly number: number
  readonly action: { readonly type: string }
  readonly verdict: { readonly decision: string; readonly reason: string; readonly rule?: string }
}

/** The only audit log below a home directory, its records, and a function that checks it with `agent audit verify`. */
async function auditedIn(home: string, cwd: string) {
  const sessions = join(home, '.local/state/portcullis/sessions')
  const [id = ''] = readdirSync(sessions)
  const log = join(sessions, id, 'audit.jsonl')
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  const records = lines.map((line) => JSON.parse(line) as AuditRecord)
  return { id, log, records, verify: () => agent(['audit', 'verify', log], { cwd, home }) }
}

describe.skipIf(needsBubblewrap())('the audit log of a run', () => {
  test('has one record for each action, in their order, whatever the tool and the verdict', async () => {
    const [home, cwd] = [tempDir(), repository({ 'a.txt': 'one\n' })]
    const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n'
    const planted = '*** Begin Patch\n*** Add File: .mcp.json\n+x\n*** End Patch\n'
    await exec(
      [
        [call('exec_command', { cmd: 'touch b' })],
        [freeform('apply_patch', patch)],
        [call('exec_command', { cmd: 'sudo ls' })],
        [call('read_file', { path: 'a.txt' })],
        [freeform('apply_patch', planted)],
        [call('exec_command', { cmd: 'ls' })],
        [say('ok')],
      ],
      ['--json', 'x'],
      { cwd, home },
    )
    const { records, verify } = await auditedIn(home, cwd)
    expect(records.map(({ number, action, verdict }) => [number, action.type, verdict.decision])).toEqual([
      [1, 'exec', 'allow'],
      [2, 'patch', 'allow'],
      [3, 'exec', 'deny'],
      [4, 'read', 'allow'],
      [5, 'patch', 'deny'],
      [6, 'exec', 'allow'],
    ])
    expect((await verify()).code).toBe(0)
  })

  test('contains the command that was running when the run was killed, and is intact; a later edit is found', async () => {
    const [home, cwd] = [tempDir(), repository()]
    const killed = await exec(
      [[call('exec_command', { cmd: 'ls' })], [call('exec_command', { cmd: 'touch began; sleep 60.25' })]],
      ['--json', 'x'],
      {
        cwd,
        home,
        onStart: (child) => {
          const timer = setInterval(() => {
            if (!isRunning('60.25')) return
            clearInterval(timer)
            child.kill('SIGKILL')
          }, 10)
        },
      },
    )
    expect(killed.signal).toBe('SIGKILL')
    const { id, log, records, verify } = await auditedIn(home, cwd)
    expect(records).toMatchObject([
      { number: 1, action: { type: 'exec' }, verdict: { decision: 'allow' } },
      {
        number: 2,
        action: { argv: expect.arrayContaining(['touch began; sleep 60.25']) },
        verdict: { decision: 'allow' },
      },
    ])
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining('2 records, intact') })
    await exec([[call('exec_command', { cmd: 'pwd' })], [say('ok')]], ['resume', id, 'go on'], { cwd, home })
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining('3 records, intact') })
    writeFileSync(log, readFileSync(log, 'utf8').replace('touch began', 'touch other'))
    expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining(':3: ') })
  })

  test('gives the reason and the rule that agent policy check gives', async () => {
    const rule = 'prefix_rule(pattern = ["make", "deploy"], decision = "forbidden", justification = "Ask a person.")\n'
    const [home, cwd] = [tempDir({ '.config/portcullis/rules/team.rules': rule }), repository()]
    const command = 'cd . && env A=1 make deploy'
    await exec([[call('exec_command', { cmd: command })], [say('ok')]], ['--json', 'x'], { cwd, home })
    const { stdout } = await agent(['policy', 'check', '--json', '--', command], { cwd, home })
    const { decision, reason, rule: deciding } = JSON.parse(stdout) as AuditRecord['verdict']
    expect(deciding).toContain('team.rules:1')
    const { records } = await auditedIn(home, cwd)
    expect(records).toMatchObject([{ verdict: { decision, reason, rule: deciding } }])
  })
})

/** Cuts a log to one line, and changes the head file to match. */
function cutTo(log: string, line: string): { readonly records: number; readonly hash: string } {
  if (!existsSync(`${log}.head`)) throw new Error('there is no head file beside the log')
  const next = JSON.parse(readFileSync(log, 'utf8').split('\n')[1] ?? '') as { previous: string }
  const head = { records: 1, hash: next.previous }
  writeFileSync(log, `${line}\n`)
  writeFileSync(`${log}.head`, `${JSON.stringify(head)}\n`)
  return head
}
