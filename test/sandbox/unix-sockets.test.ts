import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test as plain } from 'vitest'
import { hostSockets } from '../../sandbox/host-sockets.ts'
import { openSandbox, parsePolicy, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { needsBubblewrap, needsPrograms } from '../support/needs.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

/** Starts a server on this machine that listens at a path or, if the path begins with a NUL, at an abstract name. */
async function listenAt(path: string): Promise<string> {
  const server = createServer((socket) => socket.end('host')).listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return path
}

/** Creates a directory outside /tmp, because commands have a /tmp of their own. */
async function shownDirectory(): Promise<string> {
  const directory = await mkdtemp('/var/tmp/sandbox-test-')
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A script that connects to a path and prints the result: the data from the other side, or the error. */
const connect = (path: string): string =>
  `"${process.execPath}" -e "require('net').connect('${path.replace('\0', '\\\\0')}').on('data',d=>console.log(''+d)).on('error',e=>console.log(e.code))"`

const ownServer = (path: string): string =>
  `"${process.execPath}" -e "const n=require('net');const s=n.createServer(c=>c.end('own')).listen('${path}',()=>n.connect('${path}').on('data',d=>console.log(''+d)).on('close',()=>s.close())).on('error',e=>console.log(e.code))"`

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  const open = async (more: Partial<SandboxPolicyInput> = {}) => {
    const workspace = await temporaryDirectory()
    const policy = { mode: 'workspace-write' as const, workspace, readableRoots, unixSockets: true, ...more }
    return closeLater(await openSandbox(parsePolicy(policy), { backend, image }))
  }

  test.each(['off', 'allowlist'] as const)(
    'a command has unix sockets of its own where the policy says so, with the network %s',
    async (mode) => {
      const network = mode === 'off' ? { mode } : { mode, allow: ['example.com'] }
      for (const path of ['/tmp/own.sock', 'own.sock', '/dev/shm/own.sock']) {
        expect((await run(await open({ network }), ownServer(path))).stdout, path).toBe('own\n')
      }
    },
  )

  test('it has none by default, or if it is read-only', async () => {
    expect((await run(await open({ unixSockets: false }), ownServer('/tmp/own.sock'))).stdout).toBe('EPERM\n')
    expect((await run(await open(), ownServer('/tmp/own.sock'), { readOnly: true })).stdout).toBe('EPERM\n')
  })

  test.each([false, true])(
    'no socket of this machine is reached, sockets of its own allowed: %s',
    async (unixSockets) => {
      const workspace = await shownDirectory()
      const elsewhere = await shownDirectory()
      const sockets = await Promise.all(
        [
          join(workspace, 'host.sock'),
          join(elsewhere, 'host.sock'),
          `/tmp/sandbox-test-${process.pid}-${backend}.sock`,
          `\0sandbox-test-${process.pid}-${backend}`,
        ].map(listenAt),
      )
      const sandbox = await open({ workspace, unixSockets, readableRoots: [...readableRoots, elsewhere] })
      const { stdout } = await run(sandbox, sockets.map(connect).join('\n'))
      expect(stdout.trim().split('\n')).toHaveLength(sockets.length)
      expect(stdout).not.toContain('host')
    },
  )

  test('a socket that is listed as readable can be reached', async () => {
    const socket = await listenAt(join(await shownDirectory(), 'host.sock'))
    const sandbox = await open({ readableRoots: [...readableRoots, socket] })
    expect((await run(sandbox, connect(socket))).stdout).toBe('host\n')
  })
})

describe.skipIf(process.geteuid?.() !== 0)('for root,', () => {
  testInBubblewrap('a socket in a private directory of another user is hidden with the directory', async () => {
    const directory = await shownDirectory()
    const socket = await listenAt(join(directory, 'host.sock'))
    await chown(directory, 1234, 1234)
    await chmod(directory, 0o700)
    const workspace = await temporaryDirectory()
    const readableRoots = [dirname(process.execPath)]
    const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots, unixSockets: true })
    // The other user may open the directory while the command runs.
    const wait = 'touch ready; while [ ! -e open ]; do sleep 0.1; done'
    const ran = run(sandbox, `${wait}; ${connect(socket)}; ls -A ${directory}`)
    while (!existsSync(join(workspace, 'ready'))) await sleep(50)
    await chmod(directory, 0o755)
    await writeFile(join(workspace, 'open'), '')
    const { stdout } = await ran
    expect(stdout).toBe('ENOENT\n')
  })
})

plain.skipIf(needsBubblewrap() || needsPrograms('tmux'))('tmux works', async () => {
  const sandbox = await openFor({ mode: 'workspace-write', workspace: await temporaryDirectory(), unixSockets: true })
  const { stdout } = await run(
    sandbox,
    'tmux new-session -d -s x "echo from tmux > out; sleep 9" && while [ ! -s out ]; do sleep 0.1; done; cat out; tmux kill-server',
  )
  expect(stdout).toBe('from tmux\n')
})

describe.skipIf(needsBubblewrap())('a command that could not open one is told what allows it', () => {
  const scripts = [
    [process.execPath, `"${process.execPath}" listen.cjs`],
    ['tmux', 'tmux new-session -d'],
    ['ssh-agent', 'ssh-agent -D'],
  ] as const
  plain.each(scripts.filter(([program]) => !needsPrograms(program)))('%s', async (_, script) => {
    const workspace = await temporaryDirectory()
    const readableRoots = [dirname(process.execPath)]
    const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots })
    await writeFile(join(workspace, 'listen.cjs'), "require('net').createServer().listen('/tmp/x')")
    const { result, stderr } = await run(sandbox, script)
    expect(
      result.denials.map(({ remedy }) => remedy.kind),
      stderr,
    ).toEqual(['open-unix-sockets'])
  })
})

testInBubblewrap(
  'with the network full they are refused: abstract sockets of this machine would come along',
  async () => {
    const policy = { mode: 'workspace-write' as const, workspace: await temporaryDirectory(), unixSockets: true }
    await expect(openFor({ ...policy, network: { mode: 'full' } })).rejects.toThrow(/abstract sockets.*allow-list/)
  },
)

plain('listening sockets are read from the kernel, whatever their names', () => {
  const line = (path: string): string => `0000000000000000: 00000002 00000000 00010000 0001 01 ${12345} ${path}`
  const names = ['/a b', '/run/x', '/caf\xe9', '@/abstract', 'relative', '/run/x']
  const list = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    '0: 1 2 3 4 5 6',
    ...names.map(line),
    '',
  ].join('\n')
  expect(hostSockets(list)).toEqual(['/a b', '/run/x', '/caf\udce9'])
})
