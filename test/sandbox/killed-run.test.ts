import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { beforeEach, expect } from 'vitest'
import { endLeftovers } from '../../sandbox/end-leftovers.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import { eventually, temporaryDirectory, testInBubblewrap as test, testInDocker } from './helpers.ts'

beforeEach(async () => {
  // These directories are separate, so that the runs of other tests are not found.
  const before = { XDG_STATE_HOME: process.env['XDG_STATE_HOME'], TMPDIR: process.env['TMPDIR'] }
  process.env['XDG_STATE_HOME'] = await temporaryDirectory()
  process.env['TMPDIR'] = await temporaryDirectory()
  return () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
})

const index = new URL('../../sandbox/index.ts', import.meta.url).pathname
const owner = new URL('../../sandbox/run-owner.ts', import.meta.url).pathname

/** Starts another process, which runs a command in a sandbox, and kills that process once the command has created the file `started`. */
async function killWhileRunning(workspace: string, command: string, more: object = {}, options: object = {}) {
  const policy = { mode: 'workspace-write', workspace, ...more }
  const script = `
    const { openSandbox, parsePolicy } = await import(${JSON.stringify(index)})
    const sandbox = await openSandbox(parsePolicy(${JSON.stringify(policy)}), ${JSON.stringify(options)})
    const argv = ['sh', '-c', ${JSON.stringify(`${command} touch started; sleep 600`)}]
    sandbox.spawn({ argv, cwd: ${JSON.stringify(workspace)} }).stdout.resume()
    setInterval(() => {}, 1000)
  `
  const engine = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  await eventually(() => existsSync(join(workspace, 'started')))
  const gone = new Promise((resolve) => engine.once('exit', resolve))
  engine.kill('SIGKILL')
  await gone
}

testInDocker('a container that outlives its engine is ended by the next start', async () => {
  ensureImage()
  const workspace = await temporaryDirectory()
  const later = '(while :; do touch again; sleep 0.01; done) &'
  await killWhileRunning(workspace, later, { readableRoots: imageRoots }, { backend: 'docker', image })
  await endLeftovers()
  await rm(join(workspace, 'again'))
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(existsSync(join(workspace, 'again'))).toBe(false)
})

test('a bwrap that a killed engine left before it had a parent watch is ended by the next start', async () => {
  // The script starts a bwrap that doesn't end with its parent, and then exits. Like a killed engine, it leaves processes behind that nobody waits for,
  // among them the first process of a namespace, and these keep the run's pipes open.
  const directory = join(process.env['TMPDIR'] ?? '', 'portcullis-run-')
  const script = `
    const { ownerName } = await import(${JSON.stringify(owner)})
    const directory = ${JSON.stringify(directory)} + ownerName(process.pid) + '-left'
    const [{ mkdirSync, openSync }, { spawn }] = [await import('node:fs'), await import('node:child_process')]
    mkdirSync(directory + '/pipes', { recursive: true })
    const held = openSync(directory + '/pipes/one', 'w')
    const bwrap = spawn('bwrap', ['--unshare-pid', '--dev-bind', '/', '/', '--', 'sleep', '600'], { stdio: ['ignore', held, 'ignore'] })
    bwrap.unref()
    process.stdout.write(directory)
  `
  const { stdout: left } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  await eventually(() => holding(left).length > 0)
  await endLeftovers()
  expect(holding(left)).toEqual([])
  expect(existsSync(left)).toBe(false)
})

/** All descriptors, of any process, that refer to files below a directory. */
function holding(directory: string): readonly string[] {
  const { stdout } = spawnSync('sh', ['-c', 'ls -l /proc/[0-9]*/fd 2>/dev/null'], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.includes(`-> ${directory}/`))
}
