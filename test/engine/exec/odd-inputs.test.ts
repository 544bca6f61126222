import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

function pipeAt(path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  execFileSync('mkfifo', [path])
  return path
}

const named: readonly (readonly [string, (file: string) => readonly string[]])[] = [
  ['--output-schema', (file) => ['exec', '--output-schema', file, 'x']],
  ['-i', (file) => ['exec', '-i', file, 'x']],
  ['a recording', (file) => ['exec', '-m', `replay:${file}`, 'x']],
  ['--known', (file) => ['exec', 'review', '--known', file]],
  ['replay', (file) => ['replay', file]],
  ['report', (file) => ['report', file]],
  ['audit verify', (file) => ['audit', 'verify', file]],
  ['a table of commands', (file) => ['policy', 'check', '--from', file]],
  ['--rules', (file) => ['policy', 'check', '--rules', file, '--', 'ls']],
  ['the tasks of a batch', (file) => ['batch', 'run', file, '-o', 'out']],
  ['a key', (file) => ['evidence', 'verify', file]],
]

describe.each(['a pipe without a writer', 'an endless device'])('%s is refused at once, with its name, as', (what) => {
  const place = (): string => (what === 'an endless device' ? '/dev/zero' : pipeAt(join(tempDir(), 'fifo')))

  test.each(named)('%s', async (_, args) => {
    const file = place()
    const { code, signal, stderr } = await agent(args(file), { cwd: repository(), home: tempDir() })
    expect({ code, signal }).toEqual({ code: 2, signal: null })
    expect(stderr).toContain(file)
    expect(stderr).toMatch(/pipe|device|not a (regular )?file/)
  })

  test.skipIf(what === 'an endless device').each([
    ['config.toml', '.config/portcullis/config.toml'],
    ['rules', '.config/portcullis/rules/own.rules'],
    ['permissions.json', '.config/portcullis/permissions.json'],
    ['hooks.json', '.config/portcullis/hooks.json'],
  ])('the %s of the user', async (_, path) => {
    const home = tempDir()
    const file = pipeAt(join(home, path))
    const { code, signal, stderr } = await exec([[say('never')]], ['-s', 'danger-full-access', 'x'], {
      cwd: repository(),
      home,
    })
    expect({ code, signal }).toEqual({ code: 2, signal: null })
    expect(stderr).toContain(file)
  })
})

test.each(['HEAD', 'config', 'index', 'objects/info/alternates', 'packed-refs', 'info/exclude', 'refs/heads/x'])(
  'a pipe without a writer at .git/%s holds no run up',
  async (name) => {
    const cwd = repository({ 'a.txt': 'a\n' })
    rmSync(join(cwd, '.git', name), { force: true })
    pipeAt(join(cwd, '.git', name))
    for (const args of [['--in-place'], ['--view=copy']]) {
      const replies = [[call('exec_command', { cmd: 'echo b > b.txt' })], [say('done')]]
      const { signal, stderr } = await exec(replies, ['--json', '--skip-git-repo-check', ...args, 'x'], { cwd })
      expect(signal).toBe(null)
      expect(stderr).not.toContain('bug')
    }
  },
)

/** A daemon that accepts connections and never answers. Resolves with its address; `met` resolves with the first connection. */
async function silentDaemon(): Promise<{ readonly host: string; readonly met: Promise<void> }> {
  const met = Promise.withResolvers<void>()
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    met.resolve()
  })
  const path = join(tempDir(), 'daemon.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { host: `unix://${path}`, met: met.promise }
}

const onDocker = ['--json', '-c', 'sandbox_backend=docker', '-c', 'sandbox_image=nothing:latest']

describe('a start that waits for a service that never answers ends', () => {
  test.each([
    ['SIGTERM', 143, 'terminated'],
    ['SIGINT', 130, 'interrupted'],
  ] as const)('on %s', async (name, code, reason) => {
    const { host, met } = await silentDaemon()
    const told = await exec([], [...onDocker, 'x'], {
      cwd: repository(),
      env: { DOCKER_HOST: host },
      onStart: (child) => void met.then(() => child.kill(name)),
    })
    expect({ code: told.code, signal: told.signal }).toEqual({ code, signal: null })
    expect(told.events.at(-1)).toMatchObject({ type: 'turn.failed', reason, exit_code: code })
  })

  test('on a second signal at once, with its last event', async () => {
    const { host, met } = await silentDaemon()
    const told = await exec([], [...onDocker, 'x'], {
      cwd: repository(),
      env: { DOCKER_HOST: host },
      onStart: (child) =>
        void met.then(() => {
          child.kill('SIGINT')
          setTimeout(() => child.kill('SIGTERM'), 200)
        }),
    })
    expect([130, 143]).toContain(told.code)
    expect(told.events.filter(({ type }) => type === 'turn.failed')).toHaveLength(1)
  })

  test('when its time is up', async () => {
    const { host } = await silentDaemon()
    const told = await exec([], [...onDocker, '--timeout', '1', 'x'], { cwd: repository(), env: { DOCKER_HOST: host } })
    expect(told.code).toBe(4)
    expect(told.events.at(-1)).toMatchObject({ type: 'turn.failed', reason: 'budget' })
    expect(told.stderr).toContain('did not begin within 1 s')
  })
})
