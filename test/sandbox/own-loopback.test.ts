import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { openSandbox, parsePolicy, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

const networks: readonly SandboxPolicyInput['network'][] = [
  { mode: 'off' },
  { mode: 'allowlist', allow: ['example.test'] },
  { mode: 'full' },
]

/** A program that starts a server and connects to it, as a project's tests may do. */
const servesItself = `
const http = require('node:http')
const server = http.createServer((_, answer) => answer.end('served')).listen(0, '127.0.0.1', async () => {
  const { port } = server.address()
  console.log(await (await fetch('http://127.0.0.1:' + port)).text(), Object.keys(require('node:os').networkInterfaces())[0])
  server.close()
})`

describeInBoth('on %s', ({ backend, test, readableRoots }) => {
  /** Runs a Node script in a workspace of its own. */
  async function runScript(script: string, network: SandboxPolicyInput['network']) {
    const workspace = await temporaryDirectory()
    await writeFile(join(workspace, 'script.cjs'), script)
    const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots, network })
    return run(closeLater(await openSandbox(policy, { backend, image })), `"${process.execPath}" script.cjs`)
  }

  test.each(networks)('a program may listen on its own loopback with the network %o', async (network) => {
    const ran = await runScript(servesItself, network)
    expect(ran.stderr).toBe('')
    expect(ran.stdout).toMatch(/^served \w+\n$/)
  })

  test.each([
    { mode: 'off' },
    { mode: 'allowlist', allow: ['example.test'] },
  ] satisfies SandboxPolicyInput['network'][])(
    "the host's loopback is another, with the network %o",
    async (network) => {
      const server = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const ask = `require('node:net').connect(${port}, '127.0.0.1').on('error', (e) => console.log(e.code)).on('data', (d) => console.log('' + d))`
      expect((await runScript(ask, network)).stdout).toBe('ECONNREFUSED\n')
    },
  )
})
