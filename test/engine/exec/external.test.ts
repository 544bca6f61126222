import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { beforeAll, describe, expect, test } from 'vitest'
import { ensureImage, image } from '../../sandbox/docker-image.ts'
import { testInDocker } from '../../sandbox/helpers.ts'
import { agent, eventsOf } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, testUnless } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const forbidden = 'bwrap: No permissions to create new namespace, likely because the kernel does not allow it'

/**
 * The beginning of a command line that starts a program with a `bwrap` that can't create a sandbox, as in a container with the default security
 * profile.
 */
function failingBubblewrap(): readonly string[] {
  const folder = tempDir({ bwrap: `#!/bin/sh\n[ "$1" = --help ] && exit 0\necho "${forbidden}" >&2\nexit 1\n` })
  chmodSync(join(folder, 'bwrap'), 0o755)
  return ['bwrap', '--dev-bind', '/', '/', '--ro-bind', join(folder, 'bwrap'), '/usr/bin/bwrap', '--']
}

/** Variables that keep the program from finding a docker daemon, whatever this machine has. */
const noDocker = { DOCKER_HOST: 'unix:///absent/docker.sock' }

describe.skipIf(needsBubblewrap())('where bubblewrap cannot start', () => {
  const replies = [[call('exec_command', { cmd: 'echo ran > ran.txt' })], [say('done')]]

  test('agent exec asks no model, and says why and what the caller may state', async () => {
    const cwd = repository()
    const startedBy = failingBubblewrap()
    const ended = await exec(replies, ['--json', 'go'], { cwd, startedBy, env: noDocker })
    expect(ended.code).toBe(5)
    expect(ended.events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'sandboxUnavailable' })
    expect(ended.stderr).toContain(forbidden)
    expect(ended.stderr).toContain('declare that with --externally-sandboxed')
    expect(ended.stderr).not.toContain('Docker is available here')
    expect(ended.requests).toEqual([])
  })

  test('agent exec --externally-sandboxed runs, and every event says external', async () => {
    const cwd = repository()
    const startedBy = failingBubblewrap()
    const args = ['--json', '--externally-sandboxed', 'go']
    const { code, events } = await exec(replies, args, { cwd, startedBy, env: noDocker })
    expect(code).toBe(0)
    expect(existsSync(join(cwd, 'ran.txt'))).toBe(true)
    expect(events[0]).toMatchObject({ config: { sandbox_mode: 'danger-full-access', sandbox_backend: 'external' } })
    for (const event of events) expect(event).toMatchObject({ sandbox: 'external' })
    const commands = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(commands[0]).toMatchObject({ type: 'command_execution', status: 'completed', sandbox: 'external' })
  })

  test('agent sandbox refuses and names the flag; with it, it runs and says external', async () => {
    const options = { cwd: tempDir(), home: tempDir(), startedBy: failingBubblewrap(), env: noDocker }
    const refused = await agent(['sandbox', '--', 'touch', 'a'], options)
    expect(refused.code).toBe(5)
    expect(refused.stderr).toContain('declare that with --externally-sandboxed')
    expect(existsSync(join(options.cwd, 'a'))).toBe(false)
    const ran = await agent(['sandbox', '--externally-sandboxed', '--json', '--', 'echo', 'hi'], options)
    expect(JSON.parse(ran.stdout)).toMatchObject({ backend: 'external', code: 0, stdout: 'hi\n' })
  })

  testInDocker('docker is suggested if it answers', async () => {
    const options = { cwd: tempDir(), home: tempDir(), startedBy: failingBubblewrap() }
    expect((await agent(['sandbox', '--', 'true'], options)).stderr).toContain('--backend docker --image NAME')
  })
})

test.each([
  [['sandbox', '--externally-sandboxed', '-s', 'read-only', '--', 'true'], '-s read-only asks for one'],
  [['sandbox', '--externally-sandboxed', '--backend', 'docker', '--', 'true'], 'cannot be used with'],
  [['exec', '--externally-sandboxed', '-s', 'workspace-write', 'go'], '-s workspace-write asks for one'],
  [['exec', '--externally-sandboxed', '--full-auto', 'go'], 'cannot be used with'],
])('%j contradicts itself', async (args, message) => {
  const ended = await agent(args, { cwd: repository(), home: tempDir(), env: { OPENAI_API_KEY: 'sk-test-key' } })
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr).toContain(message)
})

describe('in a container with the usual profile, as an ordinary user and without new privileges', () => {
  beforeAll(() => {
    if (spawnSync('docker', ['version']).status === 0) ensureImage()
  })

  const recording = [
    { portcullis_replay: 1 },
    { events: [{ type: 'tool_call', id: 'call_1', name: 'exec_command', arguments: { cmd: 'echo ran > ran.txt' } }] },
    { events: [{ type: 'message', text: 'done' }] },
  ]

  /** Runs the real program with a recorded model in a container that has this machine's programs. */
  function inContainer(...args: readonly string[]): { readonly code: number | null; stdout: string; stderr: string } {
    const folder = tempDir({ 'work/recording.jsonl': recording.map((line) => `${JSON.stringify(line)}\n`).join('') })
    for (const name of ['', 'work', 'own']) {
      mkdirSync(join(folder, name), { recursive: true })
      chmodSync(join(folder, name), 0o777)
    }
    const root = new URL('../../..', import.meta.url).pathname
    const [dist, packages, node] = [join(root, 'dist'), join(root, 'node_modules'), process.execPath]
    const shown = ['/usr', dist, packages, dirname(node)].flatMap((path) => ['-v', `${realpathSync(path)}:${path}:ro`])
    const { status, stdout, stderr } = spawnSync(
      'docker',
      [
        ...['run', '--rm', '--network', 'none', '--user', '1000:1000', '--cap-drop', 'ALL', '--read-only'],
        ...['--security-opt', 'no-new-privileges', '-e', `HOME=${folder}/own`, '-e', `TMPDIR=${folder}/own`],
        ...[...shown, '-v', `${folder}:${folder}`, '-w', join(folder, 'work'), image],
        ...[node, join(dist, 'bin/agent.js'), ...args],
      ],
      { encoding: 'utf8' },
    )
    return { code: status, stdout, stderr }
  }

  const exec = ['exec', '--json', '--skip-git-repo-check', '-m', 'replay:recording.jsonl']

  testInDocker('agent exec is refused with advice', () => {
    const ended = inContainer(...exec, 'go')
    expect(ended.code).toBe(5)
    expect(eventsOf(ended.stdout).at(-1)).toMatchObject({ type: 'turn.failed', reason: 'sandboxUnavailable' })
    expect(ended.stderr).toContain('the kernel, or the container in which this program runs, forbids user namespaces')
    expect(ended.stderr).toContain('declare that with --externally-sandboxed')
  })

  testInDocker('agent exec --externally-sandboxed does its work', () => {
    const ended = inContainer(...exec, '--externally-sandboxed', 'go')
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stdout).toContain('"sandbox":"external"')
    expect(eventsOf(ended.stdout).at(-1)).toMatchObject({ type: 'turn.completed' })
  })
})

const asFirst = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child', '--']
const canBeFirst = spawnSync(asFirst[0] ?? '', [...asFirst.slice(1), 'true']).status === 0

testUnless(canBeFirst ? undefined : 'this machine allows no pid namespace')(
  'as the first process of a container, a run names the option that reaps what commands leave behind',
  async () => {
    const daemon = "setsid sh -c 'sleep 0.1' > /dev/null 2>&1 &"
    const replies = [[call('exec_command', { cmd: daemon })], [say('done')]]
    const args = ['-v', '--externally-sandboxed', 'go']
    const first = await exec(replies, args, { cwd: repository(), startedBy: asFirst, env: noDocker })
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('docker run --init') as string])
    const other = await exec(replies, args, { cwd: repository(), env: noDocker })
    expect([other.code, other.stderr]).toEqual([0, expect.not.stringContaining('--init') as string])
  },
)
