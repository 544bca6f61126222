import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { findMisread, pathVariables } from '../../../sandbox/misread-start.ts'
import { agent, eventsOf } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

const bin = (name: string): string => new URL(`../../../dist/bin/${name}.js`, import.meta.url).pathname
const patch = '*** Begin Patch\n*** Update File: f\n@@\n-one\n+two\n*** End Patch\n'

/** Runs a program in a folder after the shell commands `first`, which may use bytes that are not UTF-8. `given` contains its arguments, in shell syntax. */
const start = (first: string, given: string, { program = 'agent', cwd = tempDir(), stdin = '' } = {}) =>
  agent([], {
    cwd,
    home: tempDir(),
    stdin,
    program: bin(program),
    startedBy: ['bash', '-c', `${first}; exec "$@" ${given}`, 'bash'],
  })

/** Runs shell commands that make files whose names are not UTF-8. */
const make = (cwd: string, commands: string): string =>
  execFileSync('bash', ['-c', commands], { cwd }).toString('latin1')

describe.skipIf(process.platform !== 'linux')('bytes that are not UTF-8', () => {
  test.each(pathVariables)('in %s keep every program from starting, and the message says so', async (name) => {
    const first = `export ${name}=$PWD/$'p\\xe4'`
    const sandbox = await start(first, 'sandbox -- true')
    expect(sandbox).toMatchObject({ code: 2, stdout: '' })
    expect(sandbox.stderr).toMatch(
      new RegExp(
        `^agent: the environment variable ${name} is not valid UTF-8, .*/p\\\\xe4\\. Set it to a path in UTF-8\\.\n$`,
      ),
    )
    const applied = await start(first, '', { program: 'apply-patch', stdin: patch })
    expect(applied.code).toBe(2)
    expect(applied.stderr).toContain(`apply-patch: the environment variable ${name} is not valid UTF-8`)
  })

  test('in the path of the current directory never make a program work in another directory', async () => {
    const cwd = tempDir()
    make(cwd, `for d in $'p\\xe4' $'p\\xef\\xbf\\xbd'; do mkdir "$d"; echo one > "$d/f"; done`)
    const enter = "cd $'p\\xe4'"
    for (const [program, given] of [
      ['agent', "sandbox -- sh -c 'echo two > f'"],
      ['agent', 'policy check -- ls'],
      ['apply-patch', ''],
      ['apply-patch', `'${patch}'`],
      ['portcullis', 'apply-patch'],
      ['portcullis', "sandbox -- sh -c 'echo two > f'"],
    ] as const) {
      const { code, stderr } = await start(enter, given, { program, cwd, stdin: patch })
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('the path of the current directory is not valid UTF-8'),
      })
    }
    expect(make(cwd, 'cat */f')).toBe('one\none\n')
  })

  test('in an argument never make a command name another file', async () => {
    const cwd = tempDir()
    make(cwd, `touch $'f\\xe4' $'f\\xef\\xbf\\xbd'`)
    const removed = await start(':', "sandbox -- rm -- $'f\\xe4'", { cwd })
    expect(removed).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^agent: argument 5 is not valid UTF-8, .*: f\\xe4\./),
    })
    expect(await start(':', "sandbox --env $'X=\\xe4' -- true", { cwd })).toMatchObject({ code: 2 })
    expect(await start(':', "--root $'f\\xe4'", { cwd, program: 'apply-patch', stdin: patch })).toMatchObject({
      code: 2,
    })
    expect(make(cwd, 'ls | wc -l').trim()).toBe('2')
  })

  test('in the only argument of apply-patch are refused as Codex’s program refuses them', async () => {
    const { code, stderr } = await start(':', "$'*** Begin Patch\\xe4'", { program: 'apply-patch' })
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'Error: apply_patch requires a UTF-8 PATCH argument.\n' })
  })

  test('in the prompt end a run with the event turn.failed', async () => {
    const { code, stdout } = await start(':', "exec --json $'\\xe4'")
    expect(code).toBe(2)
    expect(eventsOf(stdout).at(-1)).toMatchObject({ type: 'turn.failed' })
  })

  test('in HOME or XDG_CONFIG_HOME stop the library before anything is unprotected', () => {
    const load = (name: string): string =>
      JSON.stringify(new URL(`../../../dist/${name}/index.js`, import.meta.url).href)
    const code = `const { parsePolicy } = await import(${load('sandbox')}); const { openAgent } = await import(${load('engine')})
      try { parsePolicy({ mode: 'read-only', workspace: '/' }) } catch (error) { console.log(error.code) }
      try { await openAgent({ workspace: '/', environment: process.env }) } catch (error) { console.log(error.reason) }`
    const run = (first: string): string =>
      execFileSync('bash', ['-c', `${first}; exec "$@"`, 'bash', process.execPath, '--input-type=module', '-e', code], {
        encoding: 'utf8',
      })
    expect(run(`export HOME=/h$'\\xe4'`)).toBe('invalid-policy\nusage\n')
    expect(run(`export XDG_CONFIG_HOME=/h$'\\xe4'`)).toMatch(/usage\n$/)
  })
})

test('a name that really contains U+FFFD is used as it is', async () => {
  const cwd = tempDir()
  mkdirSync(join(cwd, 'p\ufffd'))
  writeFileSync(join(cwd, 'p\ufffd', 'f'), 'one\n')
  const enter = 'cd p*; export HOME=$PWD'
  expect(await start(enter, '--root ../p*', { program: 'apply-patch', cwd, stdin: patch })).toMatchObject({
    code: 0,
    stderr: '',
  })
  expect(readFileSync(join(cwd, 'p\ufffd', 'f'), 'utf8')).toBe('two\n')
  expect(await start(enter, 'policy check -- cat ../p*/f', { cwd })).toMatchObject({ code: 0 })
  expect(findMisread([])).toBeUndefined()
})

test.skipIf(needsBubblewrap())('the credentials in a relative HOME are hidden from commands', async () => {
  const cwd = tempDir({ 'rel/.netrc': 'secret', 'rel/.ssh/id_rsa': 'secret', 'rel/f': 'shown' })
  const { stdout } = await start('export HOME=rel', 'sandbox -- sh -c "cat rel/.netrc rel/.ssh/id_rsa rel/f"', { cwd })
  expect(stdout).toBe('shown')
  expect(existsSync(join(cwd, 'rel/.netrc'))).toBe(true)
})
