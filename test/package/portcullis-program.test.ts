import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { needsBubblewrap } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const bin = new URL('../../dist/bin/', import.meta.url).pathname

/** Runs one of the installed programs in a folder, with its own home directory. */
function start(program: string, args: readonly string[], { cwd = tempDir(), input = '' } = {}) {
  const home = tempDir()
  const env = { PATH: process.env['PATH'] ?? '', HOME: home }
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(bin, `${program}.js`), ...args], {
    ...{ cwd, env, input, encoding: 'utf8' },
  })
  return { code: status, stdout, stderr }
}

test('portcullis is agent under another name, which its help shows', () => {
  expect(start('portcullis', ['--version'])).toEqual(start('agent', ['--version']))
  const { code, stdout } = start('portcullis', ['--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('Usage: portcullis ')
  expect(stdout).toContain('portcullis apply-patch')
  expect(start('agent', ['--help']).stdout).not.toContain('portcullis apply-patch')
  const wrong = start('portcullis', ['exec', '--no-such-option'])
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  expect(wrong.stderr).toMatch(/^portcullis: .*--no-such-option.* \(see portcullis exec --help\)\n$/)
})

test.skipIf(needsBubblewrap())('portcullis sandbox confines a command and gives its exit code', () => {
  const cwd = tempDir()
  const ended = start('portcullis', ['sandbox', '--', 'sh', '-c', 'echo inside > inside.txt; exit 7'], { cwd })
  expect(ended).toMatchObject({ code: 7, stdout: '' })
  expect(readFileSync(join(cwd, 'inside.txt'), 'utf8')).toBe('inside\n')
})

test('portcullis apply-patch is apply-patch: its patch as an argument or as input, its options, its exit codes', () => {
  const patch = (name: string) => `*** Begin Patch\n*** Add File: ${name}\n+one\n*** End Patch\n`
  const cwd = tempDir()
  expect(start('portcullis', ['apply-patch'], { cwd, input: patch('a') })).toMatchObject({ code: 0, stderr: '' })
  expect(start('portcullis', ['apply-patch', patch('b')], { cwd })).toMatchObject({ code: 0, stderr: '' })
  expect([readFileSync(join(cwd, 'a'), 'utf8'), readFileSync(join(cwd, 'b'), 'utf8')]).toEqual(['one\n', 'one\n'])
  for (const args of [['--check', '--diff'], ['--no-such-option'], ['undo']]) {
    const input = args[0] === '--check' ? patch('c') : ''
    const [one, other] = [tempDir(), tempDir()]
    const [both, alone] = [
      start('portcullis', ['apply-patch', ...args], { cwd: one, input }),
      start('apply-patch', args, { cwd: other, input }),
    ]
    expect(both).toEqual({ ...alone, stderr: alone.stderr.replaceAll(other, one) })
  }
  expect(start('portcullis', ['apply-patch'], { cwd, input: 'nonsense' }).code).toBe(1)
})

test('the package states its repository, and names its programs', () => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { repository, bugs, homepage, keywords, bin: programs } = JSON.parse(text) as Record<string, unknown>
  expect({ repository, bugs, homepage }).toEqual({
    repository: { type: 'git', url: expect.stringMatching(/^git\+https:/) },
    bugs: expect.stringMatching(/^https:/),
    homepage: expect.stringMatching(/^https:/),
  })
  expect(keywords).toContain('sandbox')
  expect(Object.keys(programs as object)).toEqual(['agent', 'apply-patch', 'portcullis'])
})

test.each(['agent', 'apply-patch', 'portcullis'])('%s has the version of the package', (program) => {
  const { version } = JSON.parse(readFileSync(join(bin, '../../package.json'), 'utf8')) as { readonly version: string }
  expect(start(program, ['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('agent --version --json names the packages that are part of it, and the text of each license is there', () => {
  const said = start('agent', ['--version', '--json'])
  expect(said).toMatchObject({ code: 0, stderr: '' })
  const { bundled } = JSON.parse(said.stdout) as { readonly bundled: readonly Readonly<Record<string, string>>[] }
  expect(bundled.map(({ name }) => name)).toEqual(expect.arrayContaining(['commander', 'openai', 'zod', 'dockerode']))
  const licenses = readFileSync(join(bin, '../THIRD_PARTY_LICENSES'), 'utf8')
  for (const { name, version, license } of bundled) expect(licenses).toContain(`${name} ${version} (${license})\n\n`)
})
