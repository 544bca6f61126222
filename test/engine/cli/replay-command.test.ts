import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, eventsOf, type Ended } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const patch = '*** Begin Patch\n*** Add File: made.txt\n+made in it\n*** End Patch'

/** Records a session that reads a file, creates another, and reads a third, in a transaction that leaves the tree unchanged. */
async function recorded(): Promise<{ readonly home: string; readonly cwd: string; readonly id: string }> {
  const home = tempDir()
  const cwd = repository({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'other\n' })
  const run = await exec(
    [
      [call('exec_command', { cmd: 'cat a.txt && pwd' })],
      [call('apply_patch', { input: patch })],
      [call('exec_command', { cmd: 'cat b.txt' })],
      [say(`all of ${cwd} is done`)],
    ],
    ['--land', 'never', `work in ${cwd}`],
    { cwd, home },
  )
  expect(run.code).toBe(0)
  const [id = ''] = readdirSync(join(home, '.local/state/portcullis/sessions'))
  return { home, cwd, id }
}

function lines(text: string): readonly Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe.skipIf(needsBubblewrap())('a session that is played again', () => {
  test('is exported as a recording with its prompt, which can be replayed in another tree', async () => {
    const { home, cwd, id } = await recorded()
    const printed = await agent(['sessions', 'export', id.slice(-8)], { cwd, home })
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    const [header, ...responses] = lines(printed.stdout)
    expect(header).toMatchObject({ portcullis_replay: 1, model: 'gpt-5.5', prompt: 'work in <<cwd>>' })
    expect(header?.['note']).toContain(id)
    expect(responses).toHaveLength(4)
    expect(responses[1]).toMatchObject({
      expect: [{ ok: true, output: expect.arrayContaining(['one', 'two', '<<cwd>>']) }],
    })

    const folder = tempDir()
    const exported = await agent(['sessions', 'export', id, '-o', folder], { cwd, home })
    const file = join(folder, `${id}.jsonl`)
    expect(exported.stdout).toBe(`${file}\n`)
    expect(readFileSync(file, 'utf8')).toBe(printed.stdout)
    expect(statSync(file).mode & 0o777).toBe(0o600)

    const elsewhere = repository({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'other\n' })
    const played = await agent(['replay', file], { cwd: elsewhere, home: tempDir() })
    expect(played).toMatchObject({ code: 0, stdout: `all of ${elsewhere} is done\n` })
    expect(readFileSync(join(elsewhere, 'made.txt'), 'utf8')).toBe('made in it\n')
  })

  test('can also be replayed by its id, and the hundredth time is like the first', async () => {
    const { home, cwd, id } = await recorded()
    for (const _ of [1, 2, 3]) {
      const args = ['replay', id, '--json', '--land', 'never']
      const { code, stdout } = await agent(args, { cwd, home })
      expect(code).toBe(0)
      expect(eventsOf(stdout).at(-1)).toMatchObject({ type: 'turn.completed' })
    }
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false)
  })

  test('fails at the first different result, or with --keep-going at the end with all of them', async () => {
    const { home, cwd, id } = await recorded()
    writeFileSync(join(cwd, 'a.txt'), 'one\nzwei\nthree\n')
    writeFileSync(join(cwd, 'b.txt'), 'another\n')
    const first = await agent(['replay', id], { cwd, home })
    expect(first.code).not.toBe(0)
    expect(first.stderr).toMatch(/- two\n(?:.*\n)*.*\+ zwei/)
    expect(first.stderr).not.toContain('another')
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false)

    const all = await agent(['replay', id, '--keep-going', '--land', 'always'], { cwd, home })
    expect(all.code).toBe(first.code)
    expect(all.stderr).toContain('2 results differ from the recording:')
    for (const text of ['- two', '+ zwei', '- other', '+ another']) expect(all.stderr).toContain(text)
    expect(existsSync(join(cwd, 'made.txt'))).toBe(true)
  })

  test('--update writes the returned results into the recording, and leaves every other line unchanged', async () => {
    const { home, cwd, id } = await recorded()
    const file = join(tempDir(), 'kept.jsonl')
    await agent(['sessions', 'export', id, '-o', file], { cwd, home })
    const before = readFileSync(file, 'utf8').split('\n')
    writeFileSync(join(cwd, 'b.txt'), 'another\n')
    const updated = await agent(['replay', file, '--update', '--land', 'never'], { cwd, home })
    expect(updated.code).toBe(0)
    expect(updated.stderr).toContain('1 result was updated.')
    const after = readFileSync(file, 'utf8').split('\n')
    expect(after.map((line, at) => line === before[at])).toEqual([true, true, true, true, false, true])
    expect(after[4]).toContain('another')
    const again = await agent(['replay', file, '--update', '--land', 'never'], { cwd, home })
    expect(again.stderr).toContain('needs no update.')
  })

  test('a result that matches another place of the recording is reported with that place', async () => {
    const { home, cwd, id } = await recorded()
    const file = join(tempDir(), 'swapped.jsonl')
    await agent(['sessions', 'export', id, '-o', file], { cwd, home })
    const [header = '', ...responses] = readFileSync(file, 'utf8').trimEnd().split('\n')
    const [first, second, third, fourth] = responses.map(
      (line) => JSON.parse(line) as { expect?: unknown; events: unknown[] },
    )
    const swapped = [
      { ...first, events: third?.events },
      { ...second, expect: first?.expect ?? second?.expect, events: second?.events },
      { ...third, events: first?.events },
      fourth,
    ]
    writeFileSync(file, `${[header, ...swapped.map((line) => JSON.stringify(line))].join('\n')}\n`)
    const { stderr } = await agent(['replay', file], { cwd, home })
    expect(stderr).toMatch(/The closest recorded result is at .*swapped\.jsonl:5: it matches/)
  })

  test('a tool that no longer exists is named with the difference', async () => {
    const { home, cwd, id } = await recorded()
    const file = join(tempDir(), 'older.jsonl')
    await agent(['sessions', 'export', id, '-o', file], { cwd, home })
    writeFileSync(file, readFileSync(file, 'utf8').replace('"name":"exec_command"', '"name":"run_shell"'))
    const { stderr } = await agent(['replay', file], { cwd, home })
    expect(stderr).toContain(
      'The recording uses tools that this run does not have (run_shell), so it was made with another version or with other settings.',
    )
  })

  test.each([
    [['replay', 'ID', '--update'], /a session can't be updated; make a recording of it with agent sessions export/],
    [['replay', 'ID', '-m', 'gpt-5.5'], /a replay uses the recording as its model/],
    [['replay', 'nothing-like-it'], /There is no session/],
    [['replay', 'a.txt'], /a\.txt:1: not a line of a recording/],
    [['replay', '.'], /is not a session folder/],
    [['sessions', 'export', 'ID', '-o', 'not/there/x.jsonl'], /the recording can't be written there/],
  ])('what can’t be played or written is a usage error: %j', async (words, message) => {
    const { home, cwd, id } = await recorded()
    mkdirSync(join(cwd, 'folder'))
    const ended: Ended = await agent(
      words.map((word) => (word === 'ID' ? id : word)),
      { cwd, home },
    )
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(message)
  })
})
