import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkDaemon } from '../../sandbox/docker/daemon.ts'
import { planContainer } from '../../sandbox/docker/plan-container.ts'
import { parsePolicy } from '../../sandbox/index.ts'
import { planLimits } from '../../sandbox/limits/plan-limits.ts'

const own = `${process.geteuid?.()}:${process.getegid?.()}`
const able = { MemoryLimit: true, PidsLimit: true }

/** Points `DOCKER_HOST` to a daemon that reports this information and version. */
async function daemonSaying(info: object, components: readonly string[] = ['Engine', 'containerd']): Promise<void> {
  const version = { Components: components.map((Name) => ({ Name })) }
  const server = createServer(({ url }, response) => {
    const answer = url?.endsWith('/version') === true ? version : info
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  vi.stubEnv('DOCKER_HOST', `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })
}

test('a daemon that accepts connections but never answers is reported in bounded time', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  vi.stubEnv('DOCKER_HOST', `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })
  await expect(checkDaemon()).rejects.toThrow('did not answer within 5 seconds')
})

test('commands run as the caller, so that files are the caller’s', async () => {
  await daemonSaying({ ...able, SecurityOptions: ['name=seccomp,profile=builtin'] })
  expect((await checkDaemon()).identity).toEqual({ user: own })
})

test('in a rootless daemon they run as its root, which is the caller outside', async () => {
  await daemonSaying({ ...able, SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless'] })
  expect((await checkDaemon()).identity).toEqual({ user: '0:0' })
})

test('in rootless podman they run as the caller, with keep-id', async () => {
  await daemonSaying({ ...able, SecurityOptions: ['name=rootless'] }, ['Podman Engine', 'Conmon', 'OCI Runtime (crun)'])
  const { identity } = await checkDaemon()
  expect(identity).toEqual({ user: own, userns: 'keep-id' })
  const policy = parsePolicy({ mode: 'read-only', workspace: '/w' })
  const limits = planLimits(policy, { groups: true, processLimit: false, cpus: true }, 'docker')
  const network = { directory: undefined, hosts: undefined, filtered: [] }
  const around = {
    image: 'i',
    owner: 'o',
    identity,
    mounts: [],
    limits,
    privateTemp: '/t',
    emptyDirectory: '/e',
    starts: { directory: '/s', init: ['/init'] as const },
    network,
    shown: [],
  }
  expect(planContainer(policy, around)).toMatchObject({ User: own, HostConfig: { UsernsMode: 'keep-id' } })
})

test('podman as root keeps user ids by itself, and gets no keep-id', async () => {
  await daemonSaying({ ...able, SecurityOptions: [] }, ['Podman Engine'])
  expect((await checkDaemon()).identity).toEqual({ user: own })
})

test.each([
  ['remaps user ids', { ...able, SecurityOptions: ['name=userns'] }, /without userns-remap/],
  ['cannot limit memory', { ...able, MemoryLimit: false }, /can't limit memory and processes/],
  ['does not say that it limits processes', { MemoryLimit: true }, /can't limit memory and processes/],
])('a daemon that %s is refused before anything starts there', async (_, info, message) => {
  await daemonSaying(info)
  await expect(checkDaemon()).rejects.toThrow(message)
})

test('a daemon over ssh is refused with a message, before ssh is started', async () => {
  vi.stubEnv('DOCKER_HOST', 'ssh://someone@elsewhere.test')
  onTestFinished(() => void vi.unstubAllEnvs())
  await expect(checkDaemon()).rejects.toThrow(
    /over ssh, and such a daemon can't mount the workspace.*DOCKER_HOST=unix:/s,
  )
})
