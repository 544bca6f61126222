import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agent, eventsOf, type Ended } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const shell = (id: string, cmd: string): object => ({
  type: 'tool_call',
  id,
  name: 'exec_command',
  arguments: { cmd },
})
const patch = ['*** Begin Patch', '*** Update File: log', '@@', ' one', '+two', '*** End Patch', '']
const lines: readonly object[] = [
  { portcullis_replay: 1 },
  { events: [{ type: 'message', text: 'Beginning.' }, shell('first', 'echo one >> log; sleep 0.1')] },
  { events: [{ type: 'tool_call', id: 'second', name: 'apply_patch', input: patch }] },
  { events: [shell('third', 'echo three >> log; sleep 0.1')] },
  { events: [{ type: 'message', text: 'All done.' }] },
  // This response is for a run that was killed after its last message.
  { events: [{ type: 'message', text: 'Nothing more.' }] },
]
const recording = lines.map((line) => JSON.stringify(line)).join('\n')

const wholeLines = ({ stdout }: Ended): string => stdout.slice(0, stdout.lastIndexOf('\n') + 1)

test('a run that is killed at any of its events continues without repeating a call', { timeout: 300_000 }, async () => {
  const replay = join(tempDir({ 'recording.jsonl': recording }), 'recording.jsonl')
  const flags = ['-s', 'danger-full-access', '-m', `replay:${replay}`, '--json']
  const alone = repository()
  const undisturbed = await agent(['exec', ...flags, 'go'], { cwd: alone, home: tempDir() })
  expect(undisturbed.code).toBe(0)
  expect(readFileSync(join(alone, 'log'), 'utf8')).toBe('one\ntwo\nthree\n')
  const all = eventsOf(undisturbed.stdout)
  expect(all.length).toBeGreaterThan(8)

  for (const [at, { type }] of all.entries()) {
    const where = `killed at event ${at}, ${type}`
    const [cwd, home] = [repository(), tempDir()]
    const killed = await agent(['exec', ...flags, 'go'], {
      cwd,
      home,
      onStart: (child) => {
        let seen = 0
        child.stdout?.on('data', (text: string) => {
          seen += text.split('\n').length - 1
          if (seen > at) child.kill('SIGKILL')
        })
      },
    })
    const events = eventsOf(wholeLines(killed))
    expect(events.length, where).toBeGreaterThan(at)
    const [id = ''] = readdirSync(join(home, '.local/state/portcullis/sessions'))
    expect(events[0], where).toMatchObject({ type: 'thread.started', thread_id: id })
    const resumed = await agent(['exec', ...flags, 'resume', id, 'go on'], { cwd, home })
    expect(resumed.code, `${where}: ${resumed.stderr}`).toBe(0)
    const log = existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').trimEnd().split('\n') : []
    expect(new Set(log).size, where).toBe(log.length)
  }
})
