/** These tests apply patches far larger than any in actual use, one after the other. The heap of each process is limited to one gigabyte. */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fingerprint } from './case-tools.ts'

const program = new URL('../../apply-patch/main.ts', import.meta.url).pathname
const million = 1_000_000

/** Creates a tree with one file, and a patch next to the tree. Both are removed after the test. */
function prepare(file: Iterable<string>, patch: Iterable<string>): { base: string; cwd: string } {
  const base = mkdtempSync(join(tmpdir(), 'apply-patch-large-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const cwd = join(base, 'tree')
  mkdirSync(cwd)
  writeAll(join(cwd, 'f.txt'), file)
  writeAll(join(base, 'patch'), patch)
  return { base, cwd }
}

function writeAll(path: string, pieces: Iterable<string>): void {
  const descriptor = openSync(path, 'w')
  let held = ''
  for (const piece of pieces) {
    held += piece
    if (held.length < 1 << 20) continue
    writeSync(descriptor, held)
    held = ''
  }
  writeSync(descriptor, held)
  closeSync(descriptor)
}

async function run(
  { base, cwd }: { base: string; cwd: string },
  ...given: readonly string[]
): Promise<{ status: number; stdout: Buffer; stderr: string }> {
  const input = openSync(join(base, 'patch'), 'r')
  const child = spawn(process.execPath, ['--max-old-space-size=1024', program, ...given], {
    cwd,
    env: { PATH: process.env['PATH'], XDG_STATE_HOME: join(base, 'state') },
    stdio: [input, 'pipe', 'pipe'],
  })
  closeSync(input)
  const status = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  if (child.stdout === null || child.stderr === null) throw new Error('the program has no output')
  const [stdout, stderr] = await Promise.all([buffer(child.stdout), text(child.stderr)])
  return { status: await status, stdout, stderr }
}

function* repeat(make: (index: number) => string, before = '', count = million, after = ''): Generator<string> {
  yield `*** Begin Patch\n${before}`
  for (let index = 0; index < count; index++) yield make(index)
  yield `${after}*** End Patch\n`
}

function* lines(): Generator<string> {
  for (let index = 0; index < million; index++) yield `line ${index}\n`
}

const long = 'x'.repeat(10_000_000)

describe('refused in a short message, with nothing changed', { timeout: 600_000 }, () => {
  test.each<readonly [string, Iterable<string>, Iterable<string>, string]>([
    [
      'a million updates of files that are not there',
      ['a\n'],
      repeat((index) => `*** Update File: none${index}\n@@\n-a\n+b\n`),
      '(over 950 more failures; the rest of the patch was not examined)',
    ],
    [
      'a million headers with nothing under them',
      ['a\n'],
      repeat(() => '*** Update File: f.txt\n'),
      '(over 950 more failures; the rest of the patch was not examined)',
    ],
    [
      'a million chunks whose lines are not in the file',
      ['a\n'],
      repeat((index) => `@@\n-missing ${index}\n+b\n`, '*** Update File: f.txt\n'),
      '(over 950 more failures; the rest of the patch was not examined)',
    ],
    [
      'a million chunks with nothing in them',
      ['a\n'],
      repeat(() => '@@\n', '*** Update File: f.txt\n'),
      'Update hunk does not contain any lines',
    ],
    [
      'a million anchors of one chunk',
      lines(),
      repeat((index) => `@@ nope ${index}\n`, '*** Update File: f.txt\n', million, '-line 1\n+b\n'),
      "Failed to find context 'nope 0'",
    ],
    [
      'a million lines of context',
      ['a\n'],
      repeat(() => ' \n', '*** Update File: f.txt\n@@\n-q\n'),
      '(999901 more lines)',
    ],
    [
      '100 MB that are no patch',
      ['a\n'],
      (function* () {
        for (let index = 0; index < million; index++) yield `${'x'.repeat(99)}\n`
      })(),
      "The first line of the patch must be '*** Begin Patch'",
    ],
    [
      '60 MB of what looks like the start of a patch, in one line',
      ['a\n'],
      (function* () {
        for (let index = 0; index < 5 * million; index++) yield 'Begin Patch '
      })(),
      "The first line of the patch must be '*** Begin Patch'",
    ],
    [
      'an old line of 10 MB that is not in the file',
      [`${long}\nb\n`],
      [`*** Begin Patch\n*** Update File: f.txt\n@@\n-${long}y\n+b\n*** End Patch\n`],
      '… (9999001 more characters)',
    ],
    [
      'an anchor of 10 MB that is not in the file',
      [`${long}\nb\n`],
      [`*** Begin Patch\n*** Update File: f.txt\n@@ ${long}y\n-b\n+c\n*** End Patch\n`],
      '… (9999001 more characters)',
    ],
    [
      'a path of 10 MB',
      ['a\n'],
      [`*** Begin Patch\n*** Delete File: ${long}\n*** End Patch\n`],
      'the path or a name in it is too long',
    ],
    [
      'a line of 10 MB without a mark',
      ['a\n'],
      [`*** Begin Patch\n*** Update File: f.txt\n@@\n-a\n${long}\n*** End Patch\n`],
      'Expected update hunk to start with a @@ context marker',
    ],
  ])('%s', async (_, file, patch, message) => {
    const scene = prepare(file, patch)
    const before = fingerprint(scene.cwd)
    const { status, stdout, stderr } = await run(scene)
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/unexpected error|^\s+at |FATAL/im)
    expect(stderr.length).toBeLessThan(64 * 1024)
    expect([status, stdout.length]).toEqual([1, 0])
    expect(fingerprint(scene.cwd)).toEqual(before)
  })
})

describe('applied like any other', { timeout: 600_000 }, () => {
  test('an added file of 100 MB', async () => {
    const scene = prepare(
      ['a\n'],
      repeat(() => `+${'x'.repeat(98)}\n`, '*** Add File: big.txt\n'),
    )
    expect((await run(scene)).stderr).toBe('')
    expect(statSync(join(scene.cwd, 'big.txt')).size).toBe(99 * million)
  })

  test('a million chunks in one file', async () => {
    const scene = prepare(
      lines(),
      repeat((index) => `@@\n-line ${index}\n+new ${index}\n`, '*** Update File: f.txt\n'),
    )
    expect((await run(scene)).stderr).toBe('')
    const found = readFileSync(join(scene.cwd, 'f.txt'), 'utf8')
    expect(found.startsWith('new 0\nnew 1\n')).toBe(true)
    expect(found.endsWith('\nnew 999999\n')).toBe(true)
    expect(found.split('\n').length).toBe(million + 1)
  })

  test('a million chunks that each fit a million places, with the first thousand warnings', async () => {
    const scene = prepare(
      (function* () {
        for (let index = 0; index < million; index++) yield 'same\n'
      })(),
      repeat((index) => `@@\n-same\n+new ${index}\n`, '*** Update File: f.txt\n'),
    )
    const { status, stdout } = await run(scene, '--json')
    expect(status).toBe(0)
    const { warnings } = JSON.parse(stdout.toString()) as { warnings: readonly unknown[] }
    expect(warnings.length).toBe(1001)
    // Of the million chunks, only the last is unambiguous, so there are 999,999 warnings: 1000 are listed, and the rest are counted.
    expect(warnings.at(-1)).toEqual({ code: 'further-warnings', message: '998999 more warnings, not listed here' })
    expect(readFileSync(join(scene.cwd, 'f.txt'), 'utf8').endsWith('\nnew 999999\n')).toBe(true)
  })

  test('a line of 10 MB', async () => {
    const scene = prepare(
      [`${long}\nb\n`],
      [`*** Begin Patch\n*** Update File: f.txt\n@@\n-${long}\n+${long}z\n b\n*** End Patch\n`],
    )
    expect((await run(scene)).stderr).toBe('')
    expect(statSync(join(scene.cwd, 'f.txt')).size).toBe(long.length + 4)
  })

  test('a hundred thousand updates of one file, one after the other', async () => {
    const scene = prepare(
      ['a\n'],
      repeat(
        (index) => `*** Update File: f.txt\n@@\n-${index % 2 === 0 ? 'a' : 'b'}\n+${index % 2 === 0 ? 'b' : 'a'}\n`,
        '',
        100_000,
      ),
    )
    expect((await run(scene)).stderr).toBe('')
    expect(readFileSync(join(scene.cwd, 'f.txt'), 'utf8')).toBe('a\n')
  })
})
