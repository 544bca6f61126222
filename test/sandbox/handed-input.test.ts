import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

const agent = new URL('../../dist/bin/agent.js', import.meta.url).pathname

/** Runs a script with `agent sandbox` in its own workspace, with `input` as its standard input. */
async function sandboxed(script: string, input: number) {
  const home = await temporaryDirectory()
  return spawnSync(process.execPath, [agent, 'sandbox', '--', 'sh', '-c', script], {
    cwd: await temporaryDirectory(),
    stdio: [input, 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home },
  })
}

/** Creates a file outside the sandbox, and opens it for reading only. */
async function opened(text: string): Promise<{ readonly path: string; readonly descriptor: number }> {
  const directory = await mkdtemp('/var/tmp/sandbox-test-')
  const path = join(directory, 'input')
  writeFileSync(path, text, { mode: 0o600 })
  utimesSync(path, 1e9, 1e9)
  const descriptor = openSync(path, 'r')
  onTestFinished(() => {
    closeSync(descriptor)
    return rm(directory, { recursive: true })
  })
  return { path, descriptor }
}

const tamper =
  'chmod 666 /proc/self/fd/0; touch /proc/self/fd/0; echo evil > /proc/self/fd/0; truncate -s 1 /proc/self/fd/0'

test.each([
  ['small', 'first\nsecond\n'],
  ['large', `first\n${'x'.repeat(17 * 1024 * 1024)}\n`],
])('a file for standard input is read and not written: %s', async (_, text) => {
  const { path, descriptor } = await opened(text)
  const { stdout } = await sandboxed(`head -n 1; wc -c; ${tamper}`, descriptor)
  expect(stdout.split('\n')[0]).toBe('first')
  expect(readFileSync(path, 'utf8') === text).toBe(true)
  expect(statSync(path)).toMatchObject({ mode: 0o100600, mtimeMs: 1e12 })
})

test('it is read from its current position, which stays the same for the next command', async () => {
  const { path } = await opened('one\ntwo\nthree\n')
  const script = `{ read line; echo "$line"; "${process.execPath}" "${agent}" sandbox -- cat; read line; echo "$line"; } < ${path}`
  const env = { PATH: process.env['PATH'], HOME: await temporaryDirectory() }
  // A shell that reads a line may read past its end, and then moves the file's offset back to the end of the line.
  const text = execFileSync('bash', ['-c', script], { cwd: await temporaryDirectory(), env, encoding: 'utf8' })
  expect(text).toBe('one\ntwo\nthree\ntwo\n')
})

test('a directory as standard input gives no access', async () => {
  const { path } = await opened('secret')
  const descriptor = openSync(join(path, '..'), 'r')
  onTestFinished(() => closeSync(descriptor))
  const { stdout } = await sandboxed('cat /proc/self/fd/0/input; touch /proc/self/fd/0/planted; cat', descriptor)
  expect(stdout).toBe('')
  expect(spawnSync('ls', [join(path, '..')], { encoding: 'utf8' }).stdout).toBe('input\n')
})

test('commands don’t get this machine’s null device', async () => {
  const before = statSync('/dev/null').mtimeMs
  const sandbox = await openFor({ mode: 'workspace-write', workspace: await temporaryDirectory() })
  // The script sets the mode that the device already has, so that a failure of this test doesn't change the machine.
  const script = 'chmod 666 /proc/self/fd/0 && echo changed; cat; test -c /proc/self/fd/0 && echo device'
  expect((await run(sandbox, script)).stdout).toBe('device\n')
  const none = openSync('/dev/null', 'r')
  onTestFinished(() => closeSync(none))
  expect((await sandboxed(script, none)).stdout).toBe('device\n')
  expect(statSync('/dev/null').mtimeMs).toBe(before)
})

test('no file outside can be leased', async () => {
  const { path } = await opened('leased')
  const sandbox = await openFor({
    mode: 'workspace-write',
    workspace: await temporaryDirectory(),
    readableRoots: [path],
  })
  const script = `import fcntl, os\ntry: fcntl.fcntl(os.open('${path}', os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK); print('leased')\nexcept OSError as error: print(error.errno)`
  expect((await run(sandbox, `python3 -c "${script}"`)).stdout).toBe('1\n')
})
