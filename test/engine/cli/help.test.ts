import { Command } from 'commander'
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { expect, test } from 'vitest'
import { everyCommand } from '../../../engine/cli/every-command.ts'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'

const place = () => ({ cwd: tempDir(), home: tempDir() })
const declared = new Command('agent').enablePositionalOptions()
everyCommand(declared, () => undefined)

/** Every command, as the words that name it. */
function pathsOf(command: Command, before: readonly string[] = []): readonly (readonly string[])[] {
  return command.commands.flatMap((inner) => {
    const path = [...before, inner.name()]
    return [path, ...pathsOf(inner, path)]
  })
}

const commandAt = (path: readonly string[]): Command =>
  path.reduce((command, name) => command.commands.find((inner) => inner.name() === name) ?? expect.fail(name), declared)

test.each(pathsOf(declared).map((path) => [path.join(' '), path] as const))(
  'the help of %s names each of its options, and fits 80 columns where nobody has a terminal',
  async (_, path) => {
    const { code, stdout, stderr } = await agent(['help', ...path, 'all'], place())
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^Usage: agent ${path.join(' ')}\\b`))
    const examples = stdout.indexOf('\nExamples:')
    const lines = stdout.slice(0, examples === -1 ? undefined : examples).split('\n')
    expect(lines.filter((line) => line.length > 80 && !/^ {2}(?:agent |\{)/.test(line))).toEqual([])
    for (const { long, hidden } of commandAt(path).options)
      if (!hidden && long !== undefined) expect(stdout).toMatch(new RegExp(`${long}(?![\\w-])`))
  },
)

test('the help of exec shows the options that most people need, and names the way to the others', async () => {
  const at = place()
  const { stdout } = await agent(['exec', '--help'], at)
  const shown = stdout.split('\n').filter((line) => /^ {2}-/.test(line))
  expect(shown.length).toBeLessThanOrEqual(25)
  for (const option of ['--model', '--verify', '--max-cost', '--report', '--sandbox']) expect(stdout).toContain(option)
  const [, more] = /^(\d+) more options: agent exec --help all$/m.exec(stdout) ?? []
  const all = await agent(['exec', '--help', 'all'], at)
  expect(all.stdout.split('\n').filter((line) => /^ {2}-/.test(line))).toHaveLength(shown.length + Number(more))
  expect(all.stdout).toMatch(/^What lands:$/m)
})

test('agent help is agent --help, agent help exec is agent exec --help', async () => {
  const at = place()
  const outputs = await Promise.all(
    [['help'], ['--help'], ['help', 'exec'], ['exec', '--help'], ['exec', '-h']].map((words) => agent(words, at)),
  )
  const [help, flag, named, ...others] = outputs.map(({ code, stdout }) => ({ code, stdout }))
  expect(help).toEqual(flag)
  for (const other of others) expect(other).toEqual(named)
  // What follows -- belongs to the command that runs.
  const echo = ['sandbox', '-s', 'danger-full-access', '--', 'echo', '--help', 'all']
  expect((await agent(echo, at)).stdout).toBe('--help all\n')
})

test('at a terminal, help is as wide as the terminal', () => {
  const at = place()
  const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname
  const widthAt = (columns: number): number => {
    const command = `stty cols ${columns}; '${process.execPath}' '${program}' help changes`
    const shown = execFileSync('script', ['-qec', command, '/dev/null'], {
      cwd: at.cwd,
      env: { HOME: at.home, PATH: process.env['PATH'] },
    })
    return Math.max(
      ...shown
        .toString()
        .split(/\r?\n/)
        .map((line) => line.length),
    )
  }
  const [narrow, wide] = [widthAt(60), widthAt(120)]
  expect(narrow).toBeLessThanOrEqual(60)
  expect(wide).toBeGreaterThan(60)
})
