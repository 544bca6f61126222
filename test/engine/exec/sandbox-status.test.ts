import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const replies = [[call('exec_command', { cmd: 'echo "$DOCKER_HOST"' })], [say('done')]]

/** Opens a socket that stands in for a Docker daemon's, and returns the environment variable that names it. */
async function withDaemon(): Promise<{ readonly DOCKER_HOST: string }> {
  const socket = join(tempDir(), 'docker.sock')
  const server = createServer().listen(socket)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { DOCKER_HOST: `unix://${socket}` }
}

describe.skipIf(needsBubblewrap())('a run that gives commands the docker socket', () => {
  test('says so in every event and in the summary', async () => {
    const env = await withDaemon()
    const args = ['--json', '--dangerously-mount-docker-socket', 'go']
    const { code, events, stderr } = await exec(replies, args, { cwd: repository(), env })
    expect(code).toBe(0)
    for (const event of events) expect(event).toMatchObject({ dangers: ['docker-socket'] })
    const items = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(items[0]).toMatchObject({ type: 'command_execution', aggregated_output: `${env.DOCKER_HOST}\n` })
    expect(stderr).toContain("dangerous: commands could talk to this machine's docker daemon")
  })

  test('must be requested: by default nothing is granted, and nothing reported', async () => {
    const { events, stderr } = await exec(replies, ['--json', 'go'], { cwd: repository(), env: await withDaemon() })
    for (const event of events) expect(event).not.toHaveProperty('dangers')
    const items = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(items[0]).toMatchObject({ type: 'command_execution', aggregated_output: '\n' })
    expect(stderr).not.toContain('dangerous:')
  })

  test('must be requested by the user: it has no effect in a repository, trusted or not', async () => {
    const cwd = repository({ '.portcullis/config.toml': 'dangerously_mount_docker_socket = true\n' })
    const { events, stderr } = await exec(replies, ['--json', '--trust', 'go'], { cwd, env: await withDaemon() })
    for (const event of events) expect(event).not.toHaveProperty('dangers')
    expect(stderr).toContain('dangerously_mount_docker_socket')
  })

  test('agent sandbox also reports it, in words and in JSON', async () => {
    const options = { cwd: tempDir(), home: tempDir(), env: await withDaemon() }
    const flags = ['sandbox', '--dangerously-mount-docker-socket']
    expect((await agent([...flags, '--', 'true'], options)).stderr).toContain(
      'agent sandbox: dangerous: commands could',
    )
    expect(JSON.parse((await agent([...flags, '--json', '--', 'true'], options)).stdout)).toMatchObject({
      dangers: ['docker-socket'],
    })
  })

  test('is refused if the daemon is on another machine', async () => {
    const env = { DOCKER_HOST: 'tcp://127.0.0.1:2375' }
    const ended = await exec(replies, ['--dangerously-mount-docker-socket', 'go'], { cwd: repository(), env })
    expect(ended).toMatchObject({ code: 2, requests: [] })
    expect(ended.stderr).toContain("DOCKER_HOST names a daemon that can't be reached through a socket on this machine")
  })
})

const secrets = Object.fromEntries(Array.from({ length: 20 }, (_, number) => [`SEEDED_${number}_TOKEN`, 'hunter2']))

test.skipIf(needsBubblewrap())('a run says how many variables it withheld, and shows none of them', async () => {
  const look = [[call('exec_command', { cmd: 'env; sh -c "sh -c env"; cat /proc/*/environ' })], [say('done')]]
  const env = { ...secrets, HARMLESS: 'hunter2' }
  const { events, stderr, requests } = await exec(look, ['--json', '-v', 'go'], { cwd: repository(), env })
  // The key for the model's API also counts as a secret.
  expect(events[0]).toMatchObject({ config: { environment_withheld: { secrets: 21 } } })
  expect(events.at(-1)).toMatchObject({ environment_withheld: { secrets: 21 } })
  expect(stderr).toMatch(/environment: \d+ variables withheld from commands \(21 of them look like secrets\)/)
  expect(JSON.stringify(requests)).not.toMatch(/SEEDED_|hunter2/)
})

test('if everything except secrets is passed on, only secrets are withheld', async () => {
  const args = ['sandbox', '-s', 'danger-full-access', '--json', '-c', 'shell_environment_policy.inherit="all"']
  const options = { cwd: tempDir(), home: tempDir(), env: { ...secrets, HARMLESS: 'x' } }
  const ran = JSON.parse((await agent([...args, '--', 'env'], options)).stdout) as { readonly stdout: string }
  expect(ran).toMatchObject({ environmentWithheld: { variables: 20, secrets: 20 } })
  expect(ran.stdout).toContain('HARMLESS=x')
  expect(ran.stdout).not.toContain('SEEDED_')
})
