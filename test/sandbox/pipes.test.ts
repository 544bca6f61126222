import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createPipes } from '../../sandbox/process/pipes.ts'

const isLinux = process.platform === 'linux'

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-test-pipes-'))
  onTestFinished(() => {
    // `namesOf` makes the pipes' directory readable. Otherwise its owner couldn't list it, and so couldn't remove what is in it.
    namesOf(directory)
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

function namesOf(directory: string): readonly string[] {
  const pipes = join(directory, 'pipes')
  chmodSync(pipes, 0o700)
  return readdirSync(pipes)
}

/** Opens pipes for a command whose input is `given`. Writes `words` to its output, and its input to its standard error. Returns what arrives. */
async function heard(pipes: ReturnType<typeof createPipes>, words: string, given: string): Promise<readonly string[]> {
  const { stdout, stderr, inputs, handedOver, release } = pipes.open(Buffer.from(given))
  writeSync(stdout.descriptor, words)
  execFileSync('sh', ['-c', 'cat >&2'], { stdio: [inputs[0] ?? 'ignore', 'ignore', stderr.descriptor] })
  handedOver()
  const all = await Promise.all([text(stdout.source), text(stderr.source)])
  release()
  return all
}

test('pipes that were prepared carry the output and the input of a command, and no name leads to them', async () => {
  const directory = place()
  const pipes = createPipes(directory, true)
  pipes.prepare()
  expect(await heard(pipes, 'words', 'input')).toEqual(['words', 'input'])
  pipes.prepare()
  expect(await heard(pipes, 'more', 'again')).toEqual(['more', 'again'])
  if (isLinux) expect(namesOf(directory)).toEqual([])
  expect(readdirSync(join(directory, 'pipes'))).toEqual([])
  pipes.close()
})

test('if the prepared pipes are gone, others are created', async () => {
  const directory = place()
  const pipes = createPipes(directory, true)
  pipes.prepare()
  while (isLinux && namesOf(directory).length < 4) await sleep(5)
  rmSync(join(directory, 'pipes'), { recursive: true, force: true })
  expect(await heard(pipes, 'words', 'input')).toEqual(['words', 'input'])
  pipes.close()
})

test('pipes that nobody prepared are created when a command needs them', async () => {
  const pipes = createPipes(place(), false)
  expect(await heard(pipes, 'words', 'input')).toEqual(['words', 'input'])
  expect(await heard(pipes, 'more', 'again')).toEqual(['more', 'again'])
  pipes.close()
})
