import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { beforeEach, expect } from 'vitest'
import { finishReviews, openSandbox, parsePolicy, SandboxError, type Denial } from '../../sandbox/index.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import {
  closeLater,
  eventually,
  openFor,
  run,
  temporaryDirectory,
  testInBubblewrap as test,
  testInDocker,
} from './helpers.ts'

let state: string
beforeEach(async () => {
  state = await temporaryDirectory()
  // These directories are separate, so that the runs of other tests are not found.
  const before = { XDG_STATE_HOME: process.env['XDG_STATE_HOME'], TMPDIR: process.env['TMPDIR'] }
  process.env['XDG_STATE_HOME'] = state
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

/** Starts another process, which runs a command in a sandbox, and kills that process once the command has created the file `planted`. */
async function killWhilePlanting(workspace: string, plant: string, more: object = {}, options: object = {}) {
  const policy = { mode: 'workspace-write', workspace, ...more }
  const script = `
    const { openSandbox, parsePolicy } = await import(${JSON.stringify(index)})
    const sandbox = await openSandbox(parsePolicy(${JSON.stringify(policy)}), ${JSON.stringify(options)})
    const argv = ['sh', '-c', ${JSON.stringify(`${plant}; touch planted; sleep 600`)}]
    sandbox.spawn({ argv, cwd: ${JSON.stringify(workspace)} }).stdout.resume()
    setInterval(() => {}, 1000)
  `
  const engine = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  await eventually(() => existsSync(join(workspace, 'planted')))
  const gone = new Promise((resolve) => engine.once('exit', resolve))
  engine.kill('SIGKILL')
  await gone
}

async function repository(): Promise<string> {
  const workspace = await temporaryDirectory()
  spawnSync('git', ['init', '-q', workspace])
  await writeFile(join(workspace, '.git/hooks/post-commit'), '#!/bin/sh\n')
  await writeFile(join(workspace, '.envrc'), 'mine')
  return workspace
}

const plant =
  'mkdir -p half/.git; echo ../x > half/.git/commondir; echo "ref: x" > .git/commondir; mkdir .vscode; echo {} > .vscode/tasks.json; git init -q sub; touch sub/.git/hooks/pre-commit'

test('files that a command of a killed engine planted are removed when a sandbox is opened again', async () => {
  const workspace = await repository()
  await killWhilePlanting(workspace, plant)
  expect(existsSync(join(workspace, 'half/.git/commondir'))).toBe(true)
  const heard: Denial[] = []
  const policy = parsePolicy({ mode: 'workspace-write', workspace })
  const sandbox = closeLater(await openSandbox(policy, { onLeftover: (denial) => heard.push(denial) }))
  for (const path of ['.git/commondir', 'half/.git/commondir', '.vscode/tasks.json', 'sub/.git/hooks/pre-commit'])
    expect(existsSync(join(workspace, path))).toBe(false)
  for (const path of ['.git/hooks/post-commit', '.envrc', '.git/config', 'sub/.git/config'])
    expect(existsSync(join(workspace, path))).toBe(true)
  expect(heard.map(({ kind }) => kind)).toEqual(['quarantine', 'quarantine', 'quarantine'])
  expect(await run(sandbox, 'git status --porcelain -uno')).toMatchObject({ result: { code: 0, denials: [] } })
  expect(await readdir(join(state, 'portcullis/quarantine'))).toHaveLength(1)
})

test('a sandbox elsewhere, or a run without one, also finishes the review, and only once', async () => {
  const workspace = await repository()
  await killWhilePlanting(workspace, 'mkdir .claude; echo {} > .claude/settings.json')
  expect(await finishReviews()).toMatchObject([{ kind: 'quarantine', rule: 'protectedPaths' }])
  expect(existsSync(join(workspace, '.claude/settings.json'))).toBe(false)
  await mkdir(join(workspace, '.claude'))
  await writeFile(join(workspace, '.claude/settings.json'), 'mine')
  expect(await finishReviews()).toEqual([])
  expect(existsSync(join(workspace, '.claude/settings.json'))).toBe(true)
})

test('files that the host itself changes between two commands of a killed run stay', async () => {
  const workspace = await repository()
  const script = `
    const { openSandbox, parsePolicy } = await import(${JSON.stringify(index)})
    const workspace = ${JSON.stringify(workspace)}
    const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace }))
    await sandbox.spawn({ argv: ['true'], cwd: workspace }).result
    process.stdout.write('idle')
    setInterval(() => {}, 1000)
  `
  const engine = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => engine.stdout?.once('data', resolve))
  await mkdir(join(workspace, '.vscode'))
  await writeFile(join(workspace, '.vscode/tasks.json'), 'mine')
  const gone = new Promise((resolve) => engine.once('exit', resolve))
  engine.kill('SIGKILL')
  await gone
  expect(await finishReviews()).toEqual([])
  expect(existsSync(join(workspace, '.vscode/tasks.json'))).toBe(true)
})

test('an unfinished review prevents opening, and is not forgotten', async () => {
  const workspace = await repository()
  await killWhilePlanting(workspace, 'mkdir .vscode; echo {} > .vscode/tasks.json')
  process.env['XDG_STATE_HOME'] = join(state, 'file')
  await writeFile(join(state, 'file'), '')
  const error = await openFor({ mode: 'read-only', workspace }).catch((error: unknown) => error)
  expect(SandboxError.is(error, 'unreviewed') && error.message).toMatch(/could not be reviewed/)
  process.env['XDG_STATE_HOME'] = state
  expect(await finishReviews()).toHaveLength(1)
})

test('directories without permissions for their owner do not stop it', async () => {
  const workspace = await repository()
  await killWhilePlanting(workspace, 'mkdir closed; chmod 0 closed; mkdir -p half/.git; echo x > half/.git/commondir')
  expect(await finishReviews()).toHaveLength(1)
  await chmod(join(workspace, 'closed'), 0o700)
})

testInDocker('a container that outlives its engine is ended before its review', async () => {
  ensureImage()
  const workspace = await repository()
  const later =
    '(while :; do mkdir -p .vscode; echo {} > .vscode/tasks.json; sleep 0.01; done) & mkdir -p half/.git; echo x > half/.git/commondir'
  await killWhilePlanting(workspace, later, { readableRoots: imageRoots }, { backend: 'docker', image })
  expect((await finishReviews()).length).toBeGreaterThan(0)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(existsSync(join(workspace, '.vscode/tasks.json'))).toBe(false)
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
  expect(await finishReviews()).toEqual([])
  expect(holding(left)).toEqual([])
  expect(existsSync(left)).toBe(false)
})

/** All descriptors, of any process, that refer to files below a directory. */
function holding(directory: string): readonly string[] {
  const { stdout } = spawnSync('sh', ['-c', 'ls -l /proc/[0-9]*/fd 2>/dev/null'], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.includes(`-> ${directory}/`))
}

test('a run killed after a read-only command needs no review', async () => {
  const workspace = await repository()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  await run(sandbox, 'true', { readOnly: true })
  const runs = (await readdir(process.env['TMPDIR'] ?? '')).filter((name) => name.startsWith('portcullis-run-'))
  expect(runs).toHaveLength(1)
  expect(await readdir(join(process.env['TMPDIR'] ?? '', runs[0] ?? ''))).not.toContain('unreviewed.json')
})
