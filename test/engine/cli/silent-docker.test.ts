import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Starts a fake Docker daemon that accepts connections and never answers. */
async function silentDaemon(): Promise<{ readonly host: string; readonly connections: () => number }> {
  const socket = join(tempDir(), 'docker.sock')
  let connections = 0
  const server = createServer((connection) => {
    connections += 1
    onTestFinished(() => void connection.destroy())
  }).listen(socket)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { host: `unix://${socket}`, connections: () => connections }
}

describe.skipIf(needsBubblewrap())('a docker daemon that never replies', () => {
  test.each([[['sandbox', '--', 'true']], [['sessions', 'list']], [['config', 'show']]])(
    'is not even asked by agent %j',
    async (words) => {
      const { host, connections } = await silentDaemon()
      // The daemon is asked about what killed runs have left, and another test's may be in the shared directory.
      const env = { DOCKER_HOST: host, TMPDIR: tempDir() }
      const { code, stderr } = await agent(words, { cwd: tempDir(), home: tempDir(), env })
      expect({ code, stderr, asked: connections() }).toEqual({ code: 0, stderr: '', asked: 0 })
    },
  )

  test('is reported by agent doctor, which still finishes', async () => {
    const { host, connections } = await silentDaemon()
    const { code, stdout } = await agent(['doctor'], { cwd: tempDir(), home: tempDir(), env: { DOCKER_HOST: host } })
    // The exit code doesn't depend on docker: it is 1 because a key and a repository are missing.
    expect(code).toBe(1)
    expect(connections()).toBeGreaterThan(0)
    expect(stdout).toContain(`the daemon at ${host} did not answer within 5 seconds`)
  })
})
