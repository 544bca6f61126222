import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test as plain } from 'vitest'
import { localDockerSocket } from '../../sandbox/docker-socket.ts'
import { openSandbox, parsePolicy, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

/** Opens a socket on the host that answers as a docker daemon would. */
async function daemon(): Promise<string> {
  const directory = await mkdtemp('/var/tmp/sandbox-test-')
  const socket = join(directory, 'docker.sock')
  const server = createServer((_, response) => response.end('answered')).listen(socket)
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    return rm(directory, { recursive: true })
  })
  return socket
}

const ping = (socket: string): string =>
  `echo "$DOCKER_HOST"; "${process.execPath}" -e "require('http').get({socketPath:'${socket}',path:'/_ping'},r=>r.pipe(process.stdout)).on('error',e=>console.log(e.code))"`

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  const open = async (more: Partial<SandboxPolicyInput>) => {
    const policy = { mode: 'workspace-write' as const, workspace: await temporaryDirectory(), readableRoots, ...more }
    return closeLater(await openSandbox(parsePolicy(policy), { backend, image }))
  }

  test.each(['off', 'allowlist'] as const)(
    'commands talk to the socket of a daemon that the policy names, with the network %s, and to none by default',
    async (mode) => {
      const socket = await daemon()
      const network = mode === 'off' ? { mode } : { mode, allow: ['example.com'] }
      const named = await run(await open({ dockerSocket: socket, network }), ping(socket))
      expect(named.stdout).toBe(`unix://${socket}\nanswered`)
      expect((await run(await open({ network }), ping(socket))).stdout).toMatch(/^\n(EPERM|ENOENT)\n$/)
    },
  )

  test('a read-only command does not, because a daemon would write for it', async () => {
    const socket = await daemon()
    const sandbox = await open({ dockerSocket: socket })
    expect((await run(sandbox, ping(socket), { readOnly: true })).stdout).toMatch(/\n(EPERM|ENOENT)\n$/)
  })

  test('a file that is not a socket is refused', async () => {
    await expect(open({ dockerSocket: '/etc/passwd' })).rejects.toThrow(/\/etc\/passwd .* is not a socket/)
  })
})

plain('the daemon is the one that DOCKER_HOST names, if that is a file', () => {
  expect(localDockerSocket({})).toMatch(/\/run\/docker\.sock$/)
  expect(localDockerSocket({ DOCKER_HOST: 'unix:///run/user/1000/docker.sock' })).toBe('/run/user/1000/docker.sock')
  expect(localDockerSocket({ DOCKER_HOST: 'tcp://127.0.0.1:2375' })).toBeUndefined()
})
