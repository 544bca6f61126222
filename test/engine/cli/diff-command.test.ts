import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent, type Ended } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const cmd = (line: string): ReturnType<typeof call> => call('exec_command', { cmd: line })
const add = (text: string): ReturnType<typeof call> =>
  call('apply_patch', { input: `*** Begin Patch\n*** Add File: made.txt\n+same\n+${text}\n*** End Patch` })

/** Runs each conversation in a tree of its own, and compares the first session with the last one. */
async function diff(
  runs: readonly { readonly replies: readonly Reply[]; readonly prompt?: string }[],
  ...args: readonly string[]
): Promise<Ended> {
  const home = tempDir()
  for (const { replies, prompt = 'the task' } of runs) {
    const cwd = repository({ 'a.txt': 'text\n' })
    expect((await exec(replies, [prompt], { cwd, home })).code).toBe(0)
  }
  const ids = readdirSync(join(home, '.local/state/portcullis/sessions')).toSorted()
  return agent(['diff', ids[0] ?? '', ids.at(-1) ?? '', ...args], { cwd: tempDir(), home })
}

const plain = (argument: string, text: string): readonly Reply[] => [
  [cmd('pwd && date && mktemp -u && sleep 0.1')],
  [cmd(argument)],
  [add(text)],
  [say('done')],
]

describe.skipIf(needsBubblewrap())('agent diff', () => {
  test('of a session with itself is empty', async () => {
    const { code, stdout } = await diff([{ replies: plain('cat a.txt', 'x') }])
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nstart: the same\nsteps: 4 of 4 agree\n/)
    expect(stdout).toMatch(/\nchanges: the same in a and b, 1 file\n/)
  })

  test('does not count ids, times, paths, and the order of parallel calls', async () => {
    const [one, two] = [cmd('cat a.txt'), cmd('wc -l a.txt')]
    const { code, stdout } = await diff([
      { replies: [[one, two], ...plain('ls', 'x')] },
      { replies: [[two, one], ...plain('ls', 'x')] },
    ])
    expect(stdout).toMatch(/\nsteps: 5 of 5 agree\n/)
    expect(code).toBe(0)
  })

  test('names the step and the argument in which two runs differ', async () => {
    const runs = [{ replies: plain('cat a.txt', 'x') }, { replies: plain('cat ./a.txt', 'x') }]
    const { code, stdout } = await diff(runs)
    expect(code).toBe(1)
    expect(stdout).toContain("steps: 3 of 4 agree; the first that doesn't is step 2: the calls differ\n")
    expect(stdout).toContain('  exec_command cmd: a "cat a.txt"\n  exec_command cmd: b "cat ./a.txt"\n')
    expect(stdout).toMatch(/\n≠ 2 exec_command cat a\.txt +│ 2 exec_command cat \.\/a\.txt\n= 3 /)
    const { stdout: json } = await diff(runs, '--json')
    expect(JSON.parse(json)).toMatchObject({
      same: false,
      start: [],
      divergence: { a: 2, b: 2, difference: 'calls' },
      steps: [{ difference: 'none' }, { difference: 'calls' }, { difference: 'none' }, { difference: 'none' }],
      a: { steps: 4, end: 'done', model: 'gpt-5.5' },
      files: [{ path: 'made.txt', difference: 'none', lines: [] }],
    })
  })

  test('aligns the other steps if one run has an extra step, and shows the difference of the patches', async () => {
    const { stdout } = await diff([
      { replies: plain('cat a.txt', 'x') },
      { replies: [[cmd('ls')], ...plain('cat a.txt', 'other')] },
    ])
    expect(stdout).toMatch(/\n> +│ 1 exec_command ls\n= 1 .*\n= 2 exec_command cat a\.txt/)
    expect(stdout).toContain('changes: 1 of 1 file differs\n  made.txt\n    a +x\n    b +other\n')
  })

  test('a changed line that looks like the header of a diff counts, too', async () => {
    const { code, stdout } = await diff([{ replies: plain('ls', '++ x') }, { replies: plain('ls', '++ y') }])
    expect(code).toBe(1)
    expect(stdout).toContain('  made.txt\n    a +++ x\n    b +++ y\n')
  })

  test('another prompt counts as another start, and another answer as another end', async () => {
    const { code, stdout } = await diff([
      { replies: [[say('yes')]], prompt: 'first\nsame' },
      { replies: [[say('no')]], prompt: 'second\nsame' },
    ])
    expect(code).toBe(1)
    expect(stdout).toContain('start: not the same\n  a user: first\n  b user: second\n')
    expect(stdout).toContain('step 1: the final messages differ\n  a yes\n  b no\n')
  })

  test('an argument that is not a session is a usage error', async () => {
    const cwd = tempDir()
    mkdirSync(join(cwd, 'empty'))
    const ended = await agent(['diff', 'empty', 'empty'], { cwd, home: tempDir() })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('empty is not a session folder')
  })
})
