import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { agent, eventsOf } from '../../support/agent.ts'
import { everyToolScene, registeredTools } from '../../support/every-tool.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec } from '../../support/workspace.ts'

const fixture = (name: string): string => new URL(`../../../fixtures/every-tool/${name}`, import.meta.url).pathname

type Line = { readonly expect?: readonly unknown[]; readonly events?: readonly Recorded[] }
type Recorded = { readonly type: string; readonly name?: string; readonly arguments?: { readonly name?: string } }

function linesOf(text: string): readonly Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

/** Replays the recording `text`, and records the replay as `recorded`. */
async function play(text: string) {
  const { cwd, home, site, args } = await everyToolScene(`replay:${fixture('helper.jsonl')}`)
  const recording = join(tempDir({ 'played.jsonl': text.replaceAll('<<site>>', site) }), 'played.jsonl')
  const again = join(tempDir(), 'again.jsonl')
  const words = ['exec', '--json', '-m', `replay:${recording}`, '--record', again, ...args, 'use every tool once']
  const ended = await agent(words, { cwd, home })
  const recorded = existsSync(again) ? readFileSync(again, 'utf8').replaceAll(site, '<<site>>') : ''
  return { ...ended, cwd, recorded }
}

/** Returns the text of the recorded conversation. Each test reads the file anew, because the first test may just have recorded it. */
const conversation = (): string => readFileSync(fixture('conversation.jsonl'), 'utf8')

describe.skipIf(needsBubblewrap())('a recorded run in which the model uses every built-in tool', () => {
  test.runIf(process.env['RECORD'] === '1')('is recorded again', async () => {
    const [header, ...lines] = linesOf(conversation())
    const unexpected = [header, ...lines.map(({ events }) => ({ events }))]
    const { recorded, stderr, code } = await play(unexpected.map((line) => `${JSON.stringify(line)}\n`).join(''))
    expect(code, stderr).toBe(0)
    const body = recorded.slice(recorded.indexOf('\n') + 1)
    writeFileSync(fixture('conversation.jsonl'), `${JSON.stringify(header)}\n${body}`)
  })

  test('is replayed in the real sandbox, and every tool returns what it returned then', async () => {
    const { code, stderr, stdout, cwd } = await play(conversation())
    expect(code, stderr).toBe(0)
    const events = eventsOf(stdout)
    expect(events[0]).toMatchObject({ config: { sandbox_mode: 'workspace-write', sandbox_backend: 'bubblewrap' } })
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', denied: 0 })
    // A search that the provider performs is not a call to one of our tools, but is still reported as an item.
    expect(events).toContainEqual(
      expect.objectContaining({ item: expect.objectContaining({ type: 'web_search', query: 'how to wash hands' }) }),
    )
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('one\ntwo again\nthree\n')
  })

  test('includes every registered tool, and expects a result of each call except the last', async () => {
    const lines = linesOf(conversation()).slice(1)
    const called = lines.flatMap(({ events = [] }) => events.flatMap(({ name }) => (name === undefined ? [] : [name])))
    const { cwd, home, args } = await everyToolScene(`replay:${fixture('helper.jsonl')}`)
    const { requests } = await exec([[{ type: 'text', text: '{}' }]], [...args, 'hello'], { cwd, home })
    const unused = registeredTools(requests[0]?.body).filter((name) => !called.includes(name))
    expect(unused, 'add a line for each to fixtures/every-tool/conversation.jsonl').toEqual([])
    const unchecked = lines.slice(1).filter(({ expect: results = [] }) => results.length === 0)
    expect(unchecked).toEqual([])
  })
})
