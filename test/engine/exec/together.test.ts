import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agent, eventsOf } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const runs = 64

const recording = [
  { portcullis_replay: 1 },
  { events: [{ type: 'tool_call', name: 'exec_command', arguments: { cmd: 'echo ran >> log' } }] },
  { events: [{ type: 'message', text: 'all done' }] },
]

type Line = { readonly type: string; readonly thread_id?: string; readonly workspace?: string }

test(`${runs} first runs at once in one fresh home leave ${runs} complete sessions`, { timeout: 180_000 }, async () => {
  const home = tempDir()
  const text = recording.map((line) => JSON.stringify(line)).join('\n')
  const replay = join(tempDir({ 'recording.jsonl': text }), 'recording.jsonl')
  const places = Array.from({ length: runs }, () => repository())
  const args = ['exec', '--json', '-s', 'danger-full-access', '-m', `replay:${replay}`, 'go']
  const ended = await Promise.all(places.map((cwd) => agent(args, { cwd, home })))

  const sessions = join(home, '.local/state/portcullis/sessions')
  const threads = ended.map(({ code, stdout, stderr }, at) => {
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const events = eventsOf(stdout)
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed' })
    const [first] = events
    if (first?.type !== 'thread.started') throw new Error(`the first event is ${first?.type}`)
    const read = (name: string): readonly Line[] =>
      readFileSync(join(sessions, first.thread_id, name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line)
    const rollout = read('rollout.jsonl')
    expect(rollout[0]).toMatchObject({ type: 'session', thread_id: first.thread_id, workspace: places[at] })
    expect(JSON.stringify(rollout)).toContain('all done')
    expect(rollout.at(-1)).toMatchObject({ type: 'end', reason: 'done' })
    expect(read('audit.jsonl')).toHaveLength(1)
    expect(readFileSync(join(places[at] ?? '', 'log'), 'utf8')).toBe('ran\n')
    return first.thread_id
  })
  expect(readdirSync(sessions).toSorted()).toEqual(threads.toSorted())
})
