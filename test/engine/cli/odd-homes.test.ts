import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Values of `variables` that can't be used: paths that aren't absolute, or where nothing can be stored. The test creates `FIFO` and `FILE`. */
const places = ['/dev/null', '/proc/1', '', 'relative', 'FIFO', 'FILE/below']
const variables = ['HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'TMPDIR']
const commands = [
  ['doctor'],
  ['config', 'show'],
  ['sessions', 'list'],
  ['policy', 'check', '--', 'ls'],
  ['sandbox', '--', 'echo', 'hi'],
]

describe.skipIf(needsBubblewrap())('where what is the user’s own can not be', () => {
  test.each(places.flatMap((place) => variables.map((name) => [name, place] as const)))(
    '%s=%j lets every command work, or says why not',
    async (name, place) => {
      const base = tempDir({ FILE: '' })
      execFileSync('mkfifo', [join(base, 'FIFO')])
      const cwd = tempDir()
      const value = /^F/.test(place) ? join(base, place) : place
      // In the cases about HOME, these variables are empty, which counts as unset, so that everything is below the home directory.
      const unset = name === 'HOME' ? { XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_CACHE_HOME: '' } : {}
      const env = { ...unset, [name]: value }
      // The commands run one after the other, so that they don't slow each other down.
      for (const words of commands) {
        const { code, signal, stdout, stderr } = await agent(words, { cwd, home: tempDir(), env })
        // Only `doctor` reports the problem. All other commands work as usual.
        const expected = words[0] === 'doctor' ? 1 : 0
        expect({ words, code, signal, stderr }).toEqual({ words, code: expected, signal: null, stderr: '' })
        if (words[0] === 'doctor') expect(stdout).toMatch(/agent exec would not start here/)
        if (words[0] === 'sandbox') expect(stdout).toBe('hi\n')
      }
      expect(readdirSync(cwd)).toEqual([])
    },
  )
})

test('a session that can’t be stored anywhere is refused with advice, and an ephemeral one runs', async () => {
  const recording = `{"portcullis_replay":1}\n{"events":[{"type":"message","text":"done"}]}\n`
  const cwd = tempDir({ 'r.jsonl': recording })
  const options = { cwd, home: '/proc/1', env: { XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_CACHE_HOME: '' } }
  const args = ['--skip-git-repo-check', '-s', 'danger-full-access', '-m', 'replay:r.jsonl', 'x']
  const refused = await agent(['exec', ...args], options)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toMatch(/^agent: \/proc\/1\/.*can't be used: .*Set XDG_STATE_HOME to a folder/)
  const run = await agent(['exec', '--ephemeral', ...args], options)
  expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 0, stdout: 'done\n' })
})

test('a home that is missing is not created, by any command', async () => {
  const recording = `{"portcullis_replay":1}\n{"events":[{"type":"message","text":"done"}]}\n`
  const [base, cwd] = [tempDir(), tempDir({ 'r.jsonl': recording })]
  const home = join(base, 'no/home')
  const run = ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', '-m', 'replay:r.jsonl', 'x']
  for (const env of [
    { XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_CACHE_HOME: '' },
    { XDG_STATE_HOME: join(home, 'state') },
  ]) {
    for (const words of [...commands, ['trust'], run]) {
      const { code, stderr } = await agent(words, { cwd, home, env })
      expect(readdirSync(base)).toEqual([])
      if (words !== run && words[0] !== 'trust') continue
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining(`the home directory ${home} doesn't exist`),
      })
    }
    const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
    const options = { cwd, env: { ...env, PATH: process.env['PATH'], HOME: home, TMPDIR: tempDir() } }
    execFileSync(process.execPath, [program, '*** Begin Patch\n*** Add File: x\n+1\n*** End Patch'], options)
    execFileSync(process.execPath, [program, 'undo'], options)
    expect(readdirSync(base)).toEqual([])
  }
})

test('a home below /proc does not prevent a patch', () => {
  const cwd = tempDir()
  const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
  const env = { PATH: process.env['PATH'], HOME: '/proc/1', XDG_STATE_HOME: '/proc/1', TMPDIR: tempDir() }
  const options = { cwd, env, timeout: 60_000 }
  execFileSync(process.execPath, [program, '*** Begin Patch\n*** Add File: x\n+1\n*** End Patch'], options)
  expect(existsSync(join(cwd, 'x'))).toBe(true)
  execFileSync(process.execPath, [program, 'undo'], options)
  expect(readdirSync(cwd)).toEqual([])
})
