import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkDaemon } from '../../sandbox/docker/daemon.ts'

const able = { MemoryLimit: true, PidsLimit: true }

/** Makes `DOCKER_HOST` name a daemon that says this of itself. */
async function daemonSaying(info: object): Promise<void> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(info))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  vi.stubEnv('DOCKER_HOST', `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })
}

test('commands run as the caller, so that files are the caller’s', async () => {
  await daemonSaying({ ...able, SecurityOptions: ['name=seccomp,profile=builtin'] })
  expect((await checkDaemon()).user).toBe(`${process.geteuid?.()}:${process.getegid?.()}`)
})

test('in a rootless daemon they run as its root, which is the caller outside', async () => {
  await daemonSaying({ ...able, SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless'] })
  expect((await checkDaemon()).user).toBe('0:0')
})

test.each([
  ['remaps user ids', { ...able, SecurityOptions: ['name=userns'] }, /without userns-remap/],
  ['cannot limit memory', { ...able, MemoryLimit: false }, /can't limit memory and processes/],
  ['does not say that it limits processes', { MemoryLimit: true }, /can't limit memory and processes/],
])('a daemon that %s is refused before anything starts there', async (_, info, message) => {
  await daemonSaying(info)
  await expect(checkDaemon()).rejects.toThrow(message)
})
