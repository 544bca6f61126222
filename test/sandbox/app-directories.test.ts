import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, onTestFinished, test as plain, vi } from 'vitest'
import { mountSteps } from '../../sandbox/bubblewrap/mount-steps.ts'
import { openSandbox, parsePolicy, SandboxError, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { ensureImage, image } from './docker-image.ts'
import { closeLater, codeOf, run, temporaryDirectory, testInBubblewrap, testInDocker } from './helpers.ts'

const index = new URL('../../sandbox/index.ts', import.meta.url).pathname

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  let workspace: string
  let state: string
  let elsewhere: string
  beforeEach(async () => {
    workspace = await temporaryDirectory()
    state = await temporaryDirectory()
    elsewhere = await temporaryDirectory()
    await mkdir(join(workspace, 'tmp'))
    vi.stubEnv('XDG_STATE_HOME', state)
    vi.stubEnv('TMPDIR', join(workspace, 'tmp'))
    return () => void vi.unstubAllEnvs()
  })

  const open = async (more: Partial<SandboxPolicyInput> = {}) =>
    closeLater(
      await openSandbox(parsePolicy({ mode: 'workspace-write', workspace, readableRoots, ...more }), {
        backend,
        image,
      }),
    )

  test('files of a run are out of reach even if the workspace contains the temporary directory', async () => {
    const sandbox = await open()
    const look = 'echo kept > /tmp/kept; find . /tmp /var/tmp -name "portcullis-run-*" 2>/dev/null'
    expect((await run(sandbox, look)).stdout).toBe('')
    expect((await run(sandbox, 'cat /tmp/kept')).stdout).toBe('kept\n')
    expect(await readdir(join(workspace, 'tmp'))).toEqual([])
    await sandbox.close()
    expect(await readdir(join(state, 'portcullis/runs'))).toEqual([])
  })

  test('files of other runs can be neither changed nor moved', async () => {
    const other = join(workspace, 'tmp', 'portcullis-run-1-2-3-abc')
    await mkdir(other)
    await writeFile(join(other, 'file'), 'theirs')
    await run(await open(), `cd tmp/*; echo mine > file; rm file; cd ..; mv portcullis-run-* x`)
    expect(await readFile(join(other, 'file'), 'utf8')).toBe('theirs')
  })

  test('a link into a root, or through one, is never followed', async () => {
    await mkdir(join(workspace, 'state'))
    await mkdir(join(elsewhere, 'outside'))
    await symlink(join(workspace, 'state'), join(elsewhere, 'link'))
    await symlink(join(elsewhere, 'outside'), join(workspace, 'back'))
    await symlink(join(workspace, 'back'), join(elsewhere, 'through'))
    for (const name of ['link', 'through']) {
      vi.stubEnv('XDG_STATE_HOME', join(elsewhere, name))
      const sandbox = await open()
      await run(sandbox, 'true')
      await sandbox.close()
    }
    expect(await readdir(join(workspace, 'state'))).toEqual([])
    expect(await readdir(join(elsewhere, 'outside'))).toEqual([])
  })

  test('a run is refused if it finds no directory out of reach of commands', async () => {
    vi.stubEnv('XDG_STATE_HOME', join(workspace, 'state'))
    await expect(open({ writableRoots: ['/var/tmp'] })).rejects.toThrow(
      /Set TMPDIR to a directory that you can write to, outside the writable roots/,
    )
  })

  test('this program’s state can be neither read nor changed, wherever the variables put it', async () => {
    vi.stubEnv('TMPDIR', elsewhere)
    vi.stubEnv('XDG_STATE_HOME', join(workspace, 'state'))
    await mkdir(join(workspace, 'state/portcullis/sessions'), { recursive: true })
    const sandbox = await open()
    const { stdout } = await run(sandbox, 'ls -A state/portcullis; echo x > state/portcullis/x')
    expect(stdout).toBe('')
    expect(await readdir(join(workspace, 'state/portcullis'))).toContain('sessions')
    expect(await readdir(join(workspace, 'state/portcullis'))).not.toContain('x')
  })

  test.each(['/proc', '/sys', '/dev'])('a root in %s is refused, because each command has its own', async (path) => {
    const error = await open({ readableRoots: [path] }).catch((error: unknown) => error)
    expect(SandboxError.is(error, 'invalid-policy') && error.message).toContain(`must not be in ${path}`)
  })
})

const identity = { device: 1n, inode: 1n }

testInBubblewrap('commands can’t see the pipes and directories of runs, wherever TMPDIR is', async () => {
  const temporary = await mkdtemp('/var/tmp/sandbox-test-')
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await rm(temporary, { recursive: true, force: true })
  })
  const workspace = await mkdtemp('/var/tmp/sandbox-test-')
  onTestFinished(() => rm(workspace, { recursive: true, force: true }))
  const policy = parsePolicy({ mode: 'workspace-write', workspace, home: 'open', readableRoots: ['/tmp'] })
  const [one, other] = [closeLater(await openSandbox(policy)), closeLater(await openSandbox(policy))]
  await run(other, 'true')
  const found = `find ${temporary} /tmp -type p -path '*portcullis*' -not -path '/tmp/portcullis-test-*' 2>/dev/null`
  const look = `${found}; find ${temporary} -mindepth 2; find ${temporary} -mindepth 1 | wc -l`
  expect((await run(one, look)).stdout).toBe('2\n')
})

testInBubblewrap('descriptors that the caller left open are not passed to a command', async () => {
  const workspace = await temporaryDirectory()
  const script = `
    import { openSandbox, parsePolicy } from ${JSON.stringify(index)}
    const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace: ${JSON.stringify(workspace)} }))
    const started = sandbox.spawn({ argv: ['sh', '-c', 'ls /proc/self/fd'], cwd: ${JSON.stringify(workspace)} })
    started.stdout.pipe(process.stdout)
    await started.result
    await sandbox.close()`
  const shell = 'exec 200</ 17</etc "$0" --input-type=module-typescript -e "$1"'
  const child = spawn('bash', ['-c', shell, process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] })
  // Descriptor 3 is the one with which the command lists its descriptors.
  expect(await text(child.stdout)).toBe('0\n1\n2\n3\n')
})

describe('the whole host as a root', () => {
  testInBubblewrap("does not uncover the host's processes, devices and kernel settings", async () => {
    const policy = parsePolicy({ mode: 'read-only', workspace: '/', readableRoots: ['/'] })
    const look =
      'ls /proc | grep -c "^[0-9]"; [ -e /dev/mem ] && echo device; find /sys /proc/sys -writable -type f 2>/dev/null | head -1'
    expect((await run(closeLater(await openSandbox(policy)), look)).stdout).toMatch(/^[1-9]\n$/)
  })

  plain('leaves the kernel settings and the devices read-only, even if it is writable', () => {
    const stage = {
      privateTemp: '/p',
      emptyDirectory: '/e',
      runDirectories: () => [],
      look: () => ({ kind: 'directory', identity }) as const,
    }
    const steps = mountSteps([{ path: '/', as: 'writable' }], stage)
    expect(steps.flatMap(({ do: what, path, change }) => (what === 'change' ? [[path, change]] : []))).toEqual([
      ...['/sys', '/proc', '/dev'].map((path) => [path, { set: 1, recursive: true }]),
      ...['/dev/shm', '/dev/pts'].map((path) => [path, { clear: 1 }]),
    ])
  })

  testInDocker('is refused in a container, which has its image there', async () => {
    ensureImage()
    const policy = parsePolicy({ mode: 'read-only', workspace: '/' })
    await expect(openSandbox(policy, { backend: 'docker', image })).rejects.toThrow(/comes from the image/)
  })
})

testInBubblewrap('a workspace in shared memory works like any other', async () => {
  const workspace = await mkdtemp('/dev/shm/sandbox-test-')
  onTestFinished(() => rm(workspace, { recursive: true, force: true }))
  const sandbox = closeLater(await openSandbox(parsePolicy({ mode: 'workspace-write', workspace })))
  expect(codeOf(await run(sandbox, 'echo made > file; cat file'))).toBe(0)
  expect(await readFile(join(workspace, 'file'), 'utf8')).toBe('made\n')
})
