import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, freeform, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsScript } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { execAtTerminal } from '../../support/terminal.ts'
import { exec, repository } from '../../support/workspace.ts'

const untrusted = ['--ask-for-approval', 'untrusted', 'x']
const touch = (file: string) => call('exec_command', { cmd: `touch ${file}` })
const prompt = '[y/r/a/n/s] '
const short = '[y/r/n/s] '

describe.skipIf(needsScript() || needsBubblewrap())('a person at the terminal', () => {
  test('sees the command and what is known about it, and approves it once', async () => {
    const cwd = repository()
    const { code, shown } = await execAtTerminal(
      [[touch('a.txt')], [touch('a.txt')], [say('ok')]],
      untrusted,
      [
        { after: prompt, text: 'y\n' },
        { after: prompt, text: 'n\n' },
      ],
      { cwd },
    )
    expect(code).toBe(0)
    expect(shown).toContain('The agent asks for approval:\n\n    touch a.txt\n')
    expect(shown).toContain('  `touch a.txt`: writes a.txt.\n')
    expect(shown).toContain('human: allow')
    expect(shown).toContain('human: deny')
    expect(existsSync(join(cwd, 'a.txt'))).toBe(true)
  })

  test('who approves for the run is not asked about the same action again', async () => {
    const cwd = repository()
    const { code, shown } = await execAtTerminal(
      [[touch('a.txt')], [touch('a.txt')], [say('ok')]],
      untrusted,
      [{ after: prompt, text: 'r\n' }],
      { cwd },
    )
    expect(code).toBe(0)
    expect(shown.split('The agent asks for approval').length).toBe(2)
  })

  test('who says always has seen the rule, and the rule is stored for the next run', async () => {
    const home = tempDir()
    const cwd = repository()
    const first = await execAtTerminal(
      [[touch('a.txt')], [say('ok')]],
      untrusted,
      [{ after: prompt, text: 'always\n' }],
      { cwd, home },
    )
    const file = join(home, '.config/portcullis/rules/accepted.rules')
    const rule = 'prefix_rule(pattern = ["touch", "a.txt"], decision = "allow")'
    expect(first.shown).toContain(`always: add the rule below to ${file}\n`)
    expect(first.shown.indexOf(rule)).toBeLessThan(first.shown.indexOf(prompt))
    expect(readFileSync(file, 'utf8')).toBe(`${rule}\n`)
    const next = await exec([[touch('a.txt')], [say('ok')]], ['--json', ...untrusted], { cwd, home })
    expect(next.events).toContainEqual(
      expect.objectContaining({
        type: 'item.completed',
        item: expect.objectContaining({ status: 'completed', verdict: expect.objectContaining({ decision: 'allow' }) }),
      }),
    )
  })

  test('who says no can add a message for the model', async () => {
    const cwd = repository()
    const { requests } = await execAtTerminal(
      [[touch('a.txt')], [say('ok')]],
      untrusted,
      [{ after: prompt, text: 'no use the lockfile\n' }],
      { cwd },
    )
    expect(JSON.stringify(requests[1]?.body)).toContain('They said: use the lockfile')
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
  })

  test('can stop the run', async () => {
    const { code, requests } = await execAtTerminal(
      [[touch('a.txt')], [say('never')]],
      untrusted,
      [{ after: prompt, text: 's\n' }],
      { cwd: repository() },
    )
    expect(code).toBe(3)
    expect(requests).toHaveLength(1)
  })

  test('is asked again if a line is not an answer, and the end of input means no', async () => {
    const cwd = repository()
    const { code, shown } = await execAtTerminal(
      [[touch('a.txt')], [say('ok')]],
      untrusted,
      [
        { after: prompt, text: 'maybe\n' },
        { after: prompt, text: '\u0004' },
      ],
      { cwd },
    )
    expect(code).toBe(0)
    expect(shown).toContain('human: deny')
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
  })

  test('sees the diff of a patch', async () => {
    const cwd = repository({ 'a.txt': 'one\n' })
    const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n'
    const { shown } = await execAtTerminal(
      [[freeform('apply_patch', patch)], [say('ok')]],
      untrusted,
      [{ after: short, text: 'y\n' }],
      { cwd },
    )
    expect(shown.slice(0, shown.indexOf(short))).toMatch(/update .*a\.txt[^]*\n {4}-one\n {4}\+two\n/)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
  })

  test('sees a command with terminal control sequences as it really is', async () => {
    const { shown } = await execAtTerminal(
      [[call('exec_command', { cmd: "rm -r a; echo '\u001b[2K\u202eok'" })], [say('ok')]],
      untrusted,
      [{ after: short, text: 'n\n' }],
      { cwd: repository() },
    )
    expect(shown).toContain(String.raw`rm -r a; echo '\u{1b}[2K\u{202e}ok'`)
  })

  test('interrupts the run with Ctrl-C instead of an answer', async () => {
    const { code, requests } = await execAtTerminal(
      [[touch('a.txt')], [say('never')]],
      untrusted,
      [{ after: prompt, text: '\u0003' }],
      { cwd: repository() },
    )
    expect(code).toBe(130)
    expect(requests).toHaveLength(1)
  })

  test.each([
    ['with --json', ['--json']],
    ['in mode never', ['--ask-for-approval', 'never']],
  ])('is not asked %s', async (_, flags) => {
    const { code, shown } = await execAtTerminal(
      [[call('exec_command', { cmd: 'git push --force' })], [say('ok')]],
      [...(flags.includes('never') ? [] : ['--ask-for-approval', 'untrusted']), ...flags, 'x'],
      [],
      { cwd: repository() },
    )
    expect(code).toBe(0)
    expect(shown).not.toContain('The agent asks for approval')
    expect(shown).toContain('Nobody is here to approve it')
  })
})

test.skipIf(needsBubblewrap())('standard input that is no terminal is never taken for a person', async () => {
  const cwd = repository()
  const { code, stderr } = await exec([[touch('a.txt')], [say('ok')]], untrusted, { cwd, stdin: 'y\ny\ny\n' })
  expect(code).toBe(0)
  expect(stderr).toContain('Nobody is here to approve it')
  expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
})
