import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

test.skipIf(needsBubblewrap())(
  '--last is the newest run of the directory, whatever it did, and the answer names it',
  async () => {
    const [cwd, home] = [repository(), tempDir()]
    const ask = (...words: readonly string[]) => agent(words, { cwd, home })
    const first = [[call('exec_command', { cmd: 'echo a > a.txt' })], [say('first')]]
    expect((await exec(first, ['--view=copy', 'x'], { cwd, home })).code).toBe(0)
    // This run has a view, but no changes, so nobody is sent to it.
    expect((await exec([[say('none')]], ['--view=copy', 'x'], { cwd, home })).code).toBe(0)
    expect((await exec([[say('second')]], ['-s', 'read-only', 'x'], { cwd, home })).code).toBe(0)
    const [older = '', , newer = ''] = readdirSync(join(home, '.local/state/portcullis/sessions')).toSorted()
    for (const words of [['undo'], ['changes'], ['discard'], ['evidence', '-o', '-', '--key', 'none']]) {
      const { code, stderr } = await ask(...words, '--last')
      expect([code, stderr], words.join(' ')).toEqual([
        2,
        expect.stringMatching(
          new RegExp(
            `The session ${newer} has no changes of its own: .* The newest run here that has some is ${older}\\.`,
          ),
        ),
      ])
    }
    expect(readdirSync(cwd)).toContain('a.txt')
    expect(await ask('sessions', 'show', '--last')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('second'),
    })
    expect(await ask('sessions', 'export', '--last')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('second'),
    })
    const report = await ask('report', '--last', '--format', 'md')
    expect([report.code, report.stdout]).toEqual([0, expect.stringContaining('second')])
    expect(report.stderr).toContain(`The newest run here: ${newer}`)
    // In the newer run, nothing had to be judged.
    const checked = await ask('audit', 'verify', '--last')
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('0 records, intact')])
    expect(await ask('audit', 'verify', older.slice(-12))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/1 record, intact/),
    })
    expect((await ask('policy', 'replay', '--all')).stderr).not.toContain('head is missing')
    const elsewhere = (...words: readonly string[]) => agent(words, { cwd: tempDir(), home })
    expect((await elsewhere('sessions', 'show', '--last', '-C', cwd)).stdout).toContain('second')
    expect(await elsewhere('undo', '--last', '-C', '/nowhere')).toMatchObject({
      code: 2,
      stderr: 'agent: -C /nowhere: no such directory\n',
    })
    expect(await ask('undo', older)).toMatchObject({ code: 0, stdout: expect.stringContaining('Reverted.') })
    expect(readdirSync(cwd)).not.toContain('a.txt')
    expect((await ask('undo', '--last')).stderr).not.toContain('The newest run here that')
    expect((await agent(['undo', '--last'], { cwd: repository(), home })).stderr).toContain('No run worked in')
  },
)
