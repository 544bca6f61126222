import { Command } from 'commander'
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manPages } from '../../../engine/cli/completion/man-pages.ts'
import { everyCommand } from '../../../engine/cli/every-command.ts'
import { agent } from '../../support/agent.ts'
import { testUnless } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Why a test can't use a program; undefined if it can. */
const without = (program: string): string | undefined =>
  spawnSync(program, ['--version']).error === undefined ? undefined : `${program} is not installed`

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await agent(['completion', shell], { cwd: tempDir(), home: tempDir() })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const file = join(tempDir(), 'script')
  writeFileSync(file, stdout)
  return file
}

/** What is offered after some words, in any shell. */
const cases: readonly (readonly [words: string, offered: readonly string[]])[] = [
  ['agent ex', ['exec']],
  ['agent exec --mod', ['--model']],
  ['agent exec --sandbox ', ['read-only', 'workspace-write', 'danger-full-access']],
  ['agent e resume --las', ['--last']],
  ['agent policy c', ['check']],
]

test('bash completes commands, options and their values', async () => {
  const file = await scriptFor('bash')
  for (const [words, offered] of cases) {
    const script = `source ${file}; COMP_WORDS=(${words.replace(/ $/, " ''")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _agent; printf '%s\\n' "\${COMPREPLY[@]}"`
    expect(execFileSync('bash', ['-c', script]).toString().trim().split('\n')).toEqual(offered)
  }
})

testUnless(without('fish'))('fish completes commands, options and their values', async () => {
  const file = await scriptFor('fish')
  for (const [words, offered] of cases) {
    const told = execFileSync('fish', ['-N', '-c', `source ${file}; complete -C '${words}'`], {
      cwd: tempDir(),
      env: { ...process.env, HOME: tempDir() },
    })
    const found = told
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0])
    expect(found.toSorted()).toEqual(offered.toSorted())
  }
})

testUnless(without('zsh'))('zsh completes commands, options and their values', async () => {
  const file = await scriptFor('zsh')
  // `_describe` is replaced, because the real one needs a terminal. Of a list in its form, what precedes the first colon that isn't escaped is the word.
  for (const [words, offered] of cases) {
    const script = `compdef() {}; _files() {}; _describe() { print -l -- "\${(@P)2}" }; source ${file}; words=(${words.replace(/ $/, " ''")}); CURRENT=$#words; _agent`
    const told = execFileSync('zsh', ['-f', '-c', script]).toString().trim().split('\n')
    const typed = words.split(' ').at(-1) ?? ''
    const found = told.map((line) => /^(?:\\:|[^:])*/.exec(line)?.[0] ?? '').filter((word) => word.startsWith(typed))
    expect(found).toEqual(offered)
  }
})

test('a shell without a script is refused', async () => {
  const { code, stderr } = await agent(['completion', 'tcsh'], { cwd: tempDir(), home: tempDir() })
  expect(code).toBe(2)
  expect(stderr).toContain('Allowed choices are bash, zsh, fish')
})

test('there is a manual page for each command, which names each of its options, and which groff accepts', () => {
  const program = new Command('agent').enablePositionalOptions()
  everyCommand(program, () => undefined)
  const pages = manPages(program)
  const follow = (command: Command, path: string): void => {
    const page = pages.get(`${path}.1`) ?? expect.fail(path)
    for (const { long, hidden } of command.options)
      if (!hidden && long !== undefined) expect(page).toContain(long.replaceAll('-', '\\-'))
    for (const inner of command.commands) follow(inner, `${path}-${inner.name()}`)
  }
  follow(program, 'agent')
  if (without('groff') !== undefined) return
  const { stdout, stderr } = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-K', 'utf8'], {
    input: [...pages.values()].join('\n'),
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(stdout).toContain('run a task with nobody watching')
})
