import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Item, RunEvent } from '../../../engine/core/events.ts'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const items = (events: readonly RunEvent[]): readonly Item[] =>
  events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))

describe.skipIf(needsBubblewrap())('without an approval flag and with nobody there', () => {
  test('a command runs inside the sandbox, and an access outside the workspace fails there', async () => {
    const outside = tempDir()
    const { code, events } = await exec(
      [[call('exec_command', { cmd: `echo in > in.txt && echo out > ${outside}/out.txt` })], [say('ok')]],
      ['--json', 'x'],
      { cwd: repository() },
    )
    expect(code).toBe(0)
    expect(items(events)[0]).toMatchObject({ status: 'failed', verdict: { decision: 'allow' } })
    expect(existsSync(join(outside, 'out.txt'))).toBe(false)
  })

  test('a command that asks to leave the sandbox is denied at once, with a reason', async () => {
    const outside = tempDir()
    const { code, events, requests } = await exec(
      [
        [
          call('exec_command', {
            cmd: `touch ${outside}/out.txt`,
            sandbox_permissions: 'require_escalated',
            justification: 'I want to',
          }),
        ],
        [say('ok')],
      ],
      ['--json', 'x'],
      { cwd: repository() },
    )
    expect(code).toBe(0)
    expect(items(events)[0]).toMatchObject({
      status: 'declined',
      exit_code: null,
      verdict: { decision: 'deny', reason: expect.any(String) },
    })
    expect(JSON.stringify(requests[1]?.body)).toContain('Refused by the Guardian')
    expect(existsSync(join(outside, 'out.txt'))).toBe(false)
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 1 })
  })

  test('a patch that leaves the workspace, or enters .git, changes nothing (GHSA-r5fq-947m-xm57)', async () => {
    const outside = tempDir()
    const cwd = repository()
    const add = (path: string): string => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`
    const { events } = await exec(
      [
        [freeform('apply_patch', add(`${outside}/a.txt`)), freeform('apply_patch', add('.git/hooks/pre-commit'))],
        [say('ok')],
      ],
      ['--json', 'x'],
      { cwd },
    )
    expect(items(events).slice(0, 2)).toMatchObject([
      { type: 'file_change', status: 'failed', verdict: { decision: 'deny', decided_by: 'confinement' } },
      {
        type: 'file_change',
        status: 'failed',
        error: expect.stringContaining("it is git's own data"),
        verdict: { decision: 'deny', decided_by: 'confinement' },
      },
    ])
    expect(events.at(-1)).toMatchObject({ denied: 2 })
    // `--unsafe-paths` is an option of the program `apply-patch` and can't be set for a tool call, so the error must not suggest it.
    expect(JSON.stringify(events)).not.toContain('--unsafe-paths')
    expect(readdirSync(outside)).toEqual([])
    expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false)
  })

  test('a patch outside the workspace is recorded as a refusal, and ends a run that must end at the first refusal', async () => {
    const home = tempDir()
    const patch = `*** Begin Patch\n*** Add File: ${tempDir()}/a.txt\n+x\n*** End Patch\n`
    const replies = [[freeform('apply_patch', patch)], [say('ok')]]
    const { code, events } = await exec(replies, ['--json', '--fail-on-denied', 'x'], { cwd: repository(), home })
    expect(code).toBe(3)
    const [started] = events
    const folder = started?.type === 'thread.started' ? started.config.session_dir : ''
    const records = readFileSync(join(folder, 'audit.jsonl'), 'utf8').trimEnd().split('\n')
    expect(records).toHaveLength(1)
    expect(records[0]).toContain('confinement')
  })

  test('a working folder that the model chose does not become writable (CVE-2025-59532)', async () => {
    const outside = tempDir()
    const cmd = `touch planted; echo x > ${outside}/planted`
    await exec([[call('exec_command', { cmd, workdir: outside })], [say('ok')]], ['--json', 'x'], { cwd: repository() })
    expect(readdirSync(outside)).toEqual([])
  })

  test('a patch in a shell command after a cd has no more access than any other patch', async () => {
    const outside = tempDir()
    const cwd = repository()
    const typed = (directory: string): string =>
      `cd ${directory} && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: planted\n+x\n*** End Patch\nEOF\n`
    const { events } = await exec(
      [
        [
          call('exec_command', { cmd: typed(outside) }),
          call('exec_command', { cmd: typed('.git/hooks') }),
          call('exec_command', { cmd: typed('.'), workdir: outside }),
          call('exec_command', { cmd: typed('..'), workdir: outside }),
        ],
        [say('ok')],
      ],
      ['--json', 'x'],
      { cwd },
    )
    for (const item of items(events).slice(0, 4)) expect(item).toMatchObject({ type: 'file_change', status: 'failed' })
    expect(readdirSync(outside)).toEqual([])
    expect(existsSync(join(cwd, '.git/hooks/planted'))).toBe(false)
  })

  test('in a read-only sandbox a patch is denied', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const { events } = await exec(
      [
        [freeform('apply_patch', '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch\n')],
        [say('ok')],
      ],
      ['--json', '-s', 'read-only', 'x'],
      { cwd },
    )
    expect(items(events)[0]).toMatchObject({ status: 'failed', verdict: { decision: 'deny' } })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n')
  })
})

describe.skipIf(needsBubblewrap())('a rule file', () => {
  const rules = `prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "Ask a person.")\n`

  test('forbids the commands that it names, gives its reason and location, and lets others run', async () => {
    const home = tempDir({ '.config/portcullis/rules/team.rules': rules })
    const { events, requests } = await exec(
      [
        [call('exec_command', { cmd: 'echo a; git push origin main' }), call('exec_command', { cmd: 'git status' })],
        [say('ok')],
      ],
      ['--json', 'x'],
      { cwd: repository(), home },
    )
    expect(items(events).slice(0, 2)).toMatchObject([
      {
        status: 'declined',
        verdict: { decision: 'deny', rule: expect.stringContaining(`${home}/.config/portcullis/rules/team.rules:1`) },
      },
      { status: 'completed' },
    ])
    expect(JSON.stringify(requests[1]?.body)).toContain('Ask a person.')
  })

  test('that is broken stops the run before any request, with file, line and column', async () => {
    const home = tempDir({ '.config/portcullis/rules/team.rules': 'prefix_rule(\n  pattern = [,\n)\n' })
    const { code, stdout, stderr, requests } = await exec([[say('never')]], ['x'], { cwd: repository(), home })
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^agent: .*team\.rules:2:\d+: /)
    expect(requests).toHaveLength(0)
  })
})

test.skipIf(needsBubblewrap())(
  '--ask-for-approval untrusted runs what is known to read only, and nothing else',
  async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const { events } = await exec(
      [[call('exec_command', { cmd: 'cat a.txt' }), call('exec_command', { cmd: 'touch b.txt' })], [say('ok')]],
      ['--json', '--ask-for-approval', 'untrusted', 'x'],
      { cwd },
    )
    expect(items(events).slice(0, 2)).toMatchObject([{ status: 'completed' }, { status: 'declined' }])
    expect(existsSync(join(cwd, 'b.txt'))).toBe(false)
  },
)

test.skipIf(needsBubblewrap())(
  'in untrusted a program of the workspace does not pass for one of the system',
  async () => {
    const cwd = repository({ 'bin/ls': '#!/bin/sh\ntouch planted\n' })
    chmodSync(join(cwd, 'bin/ls'), 0o755)
    const path = `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}`
    const { events } = await exec(
      [[call('exec_command', { cmd: 'ls' })], [say('ok')]],
      ['--json', '--ask-for-approval', 'untrusted', 'x'],
      { cwd, env: { PATH: path } },
    )
    expect(items(events)[0]).toMatchObject({ status: 'completed', aggregated_output: 'bin\n' })
    expect(existsSync(join(cwd, 'planted'))).toBe(false)
  },
)

test.skipIf(needsBubblewrap())('every verdict is a line of the audit log, chained to the one before', async () => {
  const home = tempDir()
  const { events } = await exec(
    [
      [
        call('exec_command', { cmd: 'true' }),
        call('exec_command', { cmd: 'id', sandbox_permissions: 'require_escalated' }),
      ],
      [say('ok')],
    ],
    ['--json', 'x'],
    { cwd: repository(), home },
  )
  const started = events.find((event) => event.type === 'thread.started')
  const log = join(home, '.local/state/portcullis/sessions', started?.thread_id ?? '', 'audit.jsonl')
  const records = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { verdict: { decision: string } })
  expect(records.map(({ verdict }) => verdict.decision)).toEqual(['allow', 'deny'])
})

test('danger-full-access runs unconfined, and says so', async () => {
  const outside = tempDir()
  const cwd = repository()
  writeFileSync(join(cwd, 'a'), '')
  const { code, events } = await exec(
    [[call('exec_command', { cmd: `touch ${outside}/out.txt` })], [say('ok')]],
    ['--json', '-s', 'danger-full-access', 'x'],
    { cwd },
  )
  expect(code).toBe(0)
  expect(events[0]).toMatchObject({ config: { sandbox_mode: 'danger-full-access', sandbox_backend: 'unconfined' } })
  expect(existsSync(join(outside, 'out.txt'))).toBe(true)
})

test.skipIf(needsBubblewrap())('--fail-on-denied ends the run at the first refusal, with exit code 3', async () => {
  const cwd = repository()
  const { code, events, requests } = await exec(
    [
      [
        call('exec_command', { cmd: 'id', sandbox_permissions: 'require_escalated' }),
        call('exec_command', { cmd: 'touch after' }),
      ],
      [say('never')],
    ],
    ['--json', '--fail-on-denied', 'x'],
    { cwd },
  )
  expect(code).toBe(3)
  expect(events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'stoppedByGuardian', exit_code: 3, denied: 1 })
  expect(requests).toHaveLength(1)
  expect(existsSync(join(cwd, 'after'))).toBe(false)
})

test('--dangerously-bypass-approvals-and-sandbox asks nothing, but rules still forbid', async () => {
  const outside = tempDir()
  const rules = `prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "Ask a person.")\n`
  const { code, events } = await exec(
    [
      [call('exec_command', { cmd: `touch ${outside}/out.txt` }), call('exec_command', { cmd: 'git push' })],
      [say('ok')],
    ],
    ['--json', '--dangerously-bypass-approvals-and-sandbox', 'x'],
    { cwd: repository(), home: tempDir({ '.config/portcullis/rules/team.rules': rules }) },
  )
  expect(code).toBe(0)
  expect(items(events).slice(0, 2)).toMatchObject([{ status: 'completed' }, { status: 'declined' }])
  expect(existsSync(join(outside, 'out.txt'))).toBe(true)
})

test.each([
  ['--full-auto', '-s', 'read-only'],
  ['--dangerously-bypass-approvals-and-sandbox', '--full-auto'],
])('%s with %s %s contradict each other', async (...flags) => {
  const { code, stderr } = await exec([[say('never')]], [...flags, 'x'], { cwd: repository() })
  expect(code).toBe(2)
  expect(stderr).toContain('cannot be used with')
})
