/** A person at the terminal decides what happens to changes that a run leaves in its view. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { exec, repository } from '../../support/workspace.ts'

const question = '(l)and, (k)eep or (d)iscard? '
const change: Reply = [call('exec_command', { cmd: 'echo two >> a.txt' })]
const flagged: Reply = { say: [], end: { type: 'failed', code: 'invalid_prompt', message: 'flagged' } }

/** A run that changes a file, at a terminal at which these texts are typed. */
async function changed(end: Reply, args: readonly string[], typed: readonly string[], env = {}) {
  const [cwd, home] = [repository({ 'a.txt': 'one\n' }), tempDir()]
  const all = typed.map((text) => ({ after: question, text }))
  const { code, shown } = await execAtTerminal([change, end], [...args, 'x'], all, { cwd, home, env })
  return {
    ...{ code, shown, asked: shown.split(question).length - 1 },
    text: () => readFileSync(join(cwd, 'a.txt'), 'utf8'),
    ask: (...words: readonly string[]) => agent(words, { cwd, home }),
  }
}

describe.skipIf(needsBubblewrap())('a person at the terminal is asked', () => {
  test('when a run has failed, and lands its changes', async () => {
    const { code, shown, text, ask } = await changed(flagged, [], ['l\n'])
    expect([code, text()]).toEqual([6, 'one\ntwo\n'])
    expect(shown).toContain('1 file landed; to revert this, run agent undo ')
    expect((await ask('undo', '--last')).code).toBe(0)
    expect(text()).toBe('one\n')
  })

  test('until the answer is one of the three; kept changes can land later', async () => {
    const { code, asked, text, ask } = await changed(flagged, [], ['yes\n', 'keep\n'])
    expect([code, asked, text()]).toEqual([6, 2, 'one\n'])
    expect((await ask('apply', '--last')).code).toBe(0)
    expect(text()).toBe('one\ntwo\n')
  })

  test('and discards them', async () => {
    const { code, shown, text, ask } = await changed(flagged, [], ['D\n'])
    expect([code, text()]).toEqual([6, 'one\n'])
    expect(shown).toContain('The stored changes were removed. The tree is unchanged.')
    expect((await ask('apply', '--last')).code).toBe(2)
  })

  test('with --land ask also when the run was successful', async () => {
    const { code, text } = await changed([say('done')], ['--land', 'ask'], ['l\n'])
    expect([code, text()]).toEqual([0, 'one\ntwo\n'])
  })

  test('and keeps everything by ending the input, or by an interruption', async () => {
    for (const typed of ['\u0004', '\u0003']) {
      const { code, asked, text } = await changed(flagged, [], [typed])
      expect([code, asked, text()]).toEqual([6, 1, 'one\n'])
    }
  })

  test('but not if the changes have landed, if the person has decided before, or in a CI job', async () => {
    for (const [end, args, env, expected] of [
      [[say('done')], [], {}, 'one\ntwo\n'],
      [flagged, ['--land', 'never'], {}, 'one\n'],
      [flagged, ['--land', 'always'], {}, 'one\ntwo\n'],
      [flagged, [], { CI: 'true' }, 'one\n'],
      [flagged, [], { TF_BUILD: 'True' }, 'one\n'],
    ] as const) {
      const { asked, text } = await changed(end, args, [], env)
      expect([asked, text()]).toEqual([0, expected])
    }
  })

  test('and where there is no terminal, the changes are kept at once', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const { code, stderr } = await exec([change, [say('done')]], ['--land', 'ask', 'x'], { cwd })
    expect([code, readFileSync(join(cwd, 'a.txt'), 'utf8')]).toEqual([0, 'one\n'])
    expect(stderr).toContain('--land ask: nobody is there to ask, so the changes are kept.')
  })
})
