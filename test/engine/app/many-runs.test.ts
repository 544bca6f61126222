import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { RunEvent } from '../../../engine/core/events.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { calls, says, scriptedRun, type Response } from '../../support/scripted-run.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const patch = (name: string): string =>
  `*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+${name}\n*** Add File: b.txt\n+new\n*** End Patch\n`

/**
 * The model's responses in a run that reads, writes, patches, is refused a command, updates its to-do list and ends. Only `name` differs between
 * runs.
 */
const script = (name: string): readonly Response[] => [
  // Read-only calls run in parallel and end in any order, so each has its own response.
  () => [calls('read_file', { path: 'a.txt' }, 'a')],
  () => [calls('exec_command', { cmd: 'cat a.txt' }, 'b')],
  () => [calls('exec_command', { cmd: `echo ${name} > c.txt; sleep 0.2; cat c.txt` }, 'c')],
  () => [calls('apply_patch', { input: patch(name) }, 'd')],
  () => [calls('exec_command', { cmd: 'sudo ls' }, 'e')],
  () => [calls('todo', { items: [] }, 'f')],
  () => [says(`done by ${name}`)],
]

/** Performs one run in its own repository. Returns its events, its outcome and the resulting files, without what differs from run to run. */
async function runAs(name: string): Promise<unknown> {
  const workspace = repository({ 'a.txt': 'one\n' })
  const home = tempDir()
  const { summary, events } = await scriptedRun({
    responses: script(name),
    mode: 'workspace-write',
    workspace,
    environment: { PATH: process.env['PATH'], HOME: home },
  })
  const told = JSON.stringify({
    events: events.map(timeless),
    ends: [summary.reason, summary.exitCode, summary.denied],
  })
  const files = ['a.txt', 'b.txt', 'c.txt'].map((file) => readFileSync(join(workspace, file), 'utf8'))
  const own = [workspace, home, name, ...events.flatMap((event) => ('thread_id' in event ? [event.thread_id] : []))]
  return own.reduce((text, word) => text.replaceAll(word, '_'), `${told}\n${files.join('')}`)
}

function timeless(event: RunEvent): unknown {
  const text = JSON.stringify(event)
  return text.replaceAll(/"(?:duration_ms|audit_head)":(?:\d+|"[^"]*")/g, '').replaceAll(/Wall time: [\d.]+ s\w*/g, '')
}

describe.skipIf(needsBubblewrap())('many runs in one process', () => {
  test('twenty at once, in twenty repositories, end like a single one', async () => {
    const alone = await runAs('alone-run')
    const together = await Promise.all(Array.from({ length: 20 }, (_, at) => runAs(`run-number-${at + 10}`)))
    for (const one of together) expect(one).toBe(alone)
  })

  test('handle no signals, and write to no standard stream', async () => {
    const written = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true))
    onTestFinished(() => written.forEach((spy) => spy.mockRestore()))
    const listeners = (): readonly number[] =>
      ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'exit'].map((name) => process.listenerCount(name))
    const before = listeners()
    const during: (readonly number[])[] = []
    await scriptedRun({
      responses: [
        () => (during.push(listeners()), [calls('exec_command', { cmd: 'echo x' }, 'a')]),
        () => [says('done')],
      ],
      mode: 'workspace-write',
    })
    const said = written.flatMap((spy) => spy.mock.calls)
    expect([during, listeners(), said]).toEqual([[before], before, []])
  })
})
