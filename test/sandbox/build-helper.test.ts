import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { testUnless, testUnlessOnCi } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const repository = new URL('../..', import.meta.url).pathname
const compilers = ['x86_64-linux-gnu-gcc', 'aarch64-linux-gnu-gcc'] as const
const missing = compilers.filter((name) => spawnSync(name, ['--version']).status !== 0)
const testWithCompilers = testUnlessOnCi(missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`)

/** A copy of the sources and files of the helper. */
function copyOfHelper(): string {
  const directory = tempDir()
  for (const name of ['build-helper.ts', 'package.json', 'sandbox/helper']) {
    cpSync(join(repository, name), join(directory, name), { recursive: true })
  }
  return directory
}

function build(directory: string, mode: '--check' | '--prove', path = '') {
  const env = { ...process.env, PATH: `${path}:${process.env['PATH']}` }
  return spawnSync(process.execPath, ['build-helper.ts', mode], { cwd: directory, env, encoding: 'utf8' })
}

/** A directory with programs of these names, all with the same script. */
function programs(names: readonly string[], script: string): string {
  const directory = tempDir()
  for (const name of names) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(directory, name), 0o755)
  }
  return directory
}

/** Compilers that have another version than those of the files that are checked in. */
const otherCompilers = () =>
  programs([...compilers, 'ld', 'clang'], 'case $1 in -print-prog-name=ld) echo ld;; *) echo "gcc (Other) 99.1";; esac')
/** An analyser that finds nothing, because reading all sources takes long. */
const noAnalyser = () => programs(['clang'], 'exit 0')

test('with another compiler, the helper is not compared, and a release is refused', () => {
  const others = otherCompilers()
  const checked = build(repository, '--check', others)
  expect(checked.status).toBe(0)
  for (const name of ['helper-x64', 'helper-arm64']) {
    expect(checked.stdout).toContain(`${name}: compiler differs, not compared\n`)
  }
  const proved = build(repository, '--prove', others)
  expect(proved.status).toBe(1)
  expect(proved.stderr).toContain('gcc (Other) 99.1')
  const released = spawnSync('npm', ['run', 'release'], {
    cwd: repository,
    env: { ...process.env, PATH: `${others}:${process.env['PATH']}` },
    encoding: 'utf8',
  })
  expect(released.status).not.toBe(0)
  expect(released.stderr).toContain('A release needs a proof')
  expect(released.stdout).not.toContain('npm pack')
})

testWithCompilers('a file of the helper that its sources don’t give is noticed', () => {
  const directory = copyOfHelper()
  const analyser = noAnalyser()
  const before = build(directory, '--check', analyser)
  // On a machine with other compilers there is nothing to compare.
  if (before.stdout.includes('not compared')) return
  expect(before).toMatchObject({ status: 0, stderr: '' })
  const source = join(directory, 'sandbox/helper/main.c')
  writeFileSync(source, readFileSync(source, 'utf8').replace('no such part', 'no such parts'))
  const after = build(directory, '--check', analyser)
  expect(after.status).toBe(1)
  expect(after.stderr).toContain('helper-x64 is not what its sources give')
  expect(after.stderr).toContain('helper-arm64 is not what its sources give')
})

const noClang = spawnSync('clang', ['--version']).status === 0 ? undefined : 'clang is not installed'
testUnless(noClang, testWithCompilers)('clang’s analyser reads the sources of the helper', () => {
  const directory = copyOfHelper()
  const fault =
    'int faulty(int which);\nint faulty(int which) {\n  int *none = 0;\n  return which > 3 ? *none : 0;\n}\n'
  writeFileSync(join(directory, 'sandbox/helper/faulty.c'), fault)
  const { status, stderr } = build(directory, '--check')
  expect(status).toBe(1)
  expect(stderr).toMatch(/faulty\.c:4:.*null pointer/)
})
