import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ensureImage, image, imageRoots } from '../../sandbox/docker-image.ts'
import { testInDocker } from '../../sandbox/helpers.ts'
import { agent } from '../../support/agent.ts'
import { hidingBubblewrap, needsBubblewrap } from '../../support/needs.ts'
import { isRunning } from '../../support/is-running.ts'
import { tempDir } from '../../support/temp-dir.ts'

describe.skipIf(needsBubblewrap())('agent sandbox', () => {
  test('passes output and exit code through', async () => {
    const cwd = tempDir()
    const ended = await agent(['sandbox', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'], { cwd, home: tempDir() })
    expect(ended).toEqual({ code: 7, signal: null, stdout: 'out\n', stderr: 'err\n' })
  })

  test('passes standard input through', async () => {
    const ended = await agent(['sandbox', '--', 'tr', 'a-z', 'A-Z'], {
      cwd: tempDir(),
      home: tempDir(),
      stdin: 'piped',
    })
    expect(ended).toMatchObject({ code: 0, stdout: 'PIPED' })
  })

  test('passes flags after the command to the command', async () => {
    const ended = await agent(['sandbox', 'echo', '-s', '--json'], { cwd: tempDir(), home: tempDir() })
    expect(ended.stdout).toBe('-s --json\n')
  })

  test('lets a command write only in the workspace', async () => {
    const workspace = tempDir()
    const outside = tempDir()
    const script = `echo in > in.txt; echo out > ${outside}/out.txt`
    const ended = await agent(['sandbox', '-C', workspace, '--', 'sh', '-c', script], { cwd: outside, home: tempDir() })
    expect(ended.code).not.toBe(0)
    expect(readFileSync(join(workspace, 'in.txt'), 'utf8')).toBe('in\n')
    expect(existsSync(join(outside, 'out.txt'))).toBe(false)
  })

  test('read-only lets nothing be written', async () => {
    const workspace = tempDir()
    const ended = await agent(['sandbox', '-s', 'read-only', '--', 'touch', 'a'], { cwd: workspace, home: tempDir() })
    expect(ended.code).not.toBe(0)
    expect(existsSync(join(workspace, 'a'))).toBe(false)
  })

  test('a command that reads ~/.ssh finds nothing there', async () => {
    const home = tempDir()
    mkdirSync(join(home, '.ssh'))
    writeFileSync(join(home, '.ssh/id_ed25519'), 'PRIVATE KEY')
    const script = 'cat ~/.ssh/id_ed25519; ls -A ~/.ssh; true'
    const ended = await agent(['sandbox', '--', 'sh', '-c', script], { cwd: tempDir(), home })
    expect(ended.stdout).toBe('')
  })

  test('a key in the environment does not reach the command', async () => {
    const env = { OPENAI_API_KEY: 'sk-secret', GITHUB_TOKEN: 'ghp-secret' }
    const ended = await agent(['sandbox', '--', 'env'], { cwd: tempDir(), home: tempDir(), env })
    expect(ended.code).toBe(0)
    expect(ended.stdout).not.toContain('secret')
  })

  test('a command ended by a signal gives 128 plus its number', async () => {
    const ended = await agent(['sandbox', '--', 'sh', '-c', 'kill -9 $$'], { cwd: tempDir(), home: tempDir() })
    expect(ended.code).toBe(137)
  })

  test('a missing program gives 127 and one line', async () => {
    const ended = await agent(['sandbox', '--', 'no-such-program'], { cwd: tempDir(), home: tempDir() })
    expect(ended.code).toBe(127)
    expect(ended.stderr).toMatch(/^agent sandbox: no executable named no-such-program in .*\n$/)
  })

  test('--writable opens one more directory, and no other', async () => {
    const [cwd, open, shut] = [tempDir(), tempDir(), tempDir()]
    const args = ['sandbox', '--writable', open, '--', 'touch', `${open}/a`, `${shut}/a`]
    await agent(args, { cwd, home: tempDir() })
    expect(existsSync(join(open, 'a'))).toBe(true)
    expect(existsSync(join(shut, 'a'))).toBe(false)
  })

  test('--deny-read hides a path besides those always hidden', async () => {
    const cwd = tempDir({ '.env': 'SECRET=1', 'a.txt': 'plain' })
    const home = tempDir({ '.ssh/id': 'key' })
    const args = ['sandbox', '--deny-read', '.env', '--', 'sh', '-c', 'cat .env ~/.ssh/id; cat a.txt']
    expect((await agent(args, { cwd, home })).stdout).toBe('plain')
  })

  test("--deny-read '~' hides the home directory", async () => {
    const [cwd, home] = [tempDir({ 'a.txt': 'plain' }), tempDir({ 'notes.txt': 'private' })]
    const args = ['sandbox', '--deny-read', '~', '--', 'sh', '-c', 'cat ~/notes.txt a.txt']
    expect((await agent(args, { cwd, home })).stdout).toBe('plain')
  })

  test("--deny-read '.env*' hides matching names at any depth, and no similar ones", async () => {
    const files = { '.env': 'A=1', 'app/.env.local': 'B=2', 'app/env.js': 'plain', 'app/.environment/c': 'C=3' }
    const [cwd, home] = [tempDir(files), tempDir()]
    const script = 'cat .env app/.env.local app/.environment/c; mv app away; cat away/.env.local; cat away/env.js'
    for (const how of [
      ['--deny-read', '.env*'],
      ['-c', 'sandbox_read.deny=[".env*"]'],
    ]) {
      const ended = await agent(['sandbox', ...how, '--', 'sh', '-c', `${script}; mv away app`], { cwd, home })
      expect(ended.stdout).toBe('plain')
    }
    const denied = 'app/.environment/c'
    const told = await agent(['sandbox', '-s', 'read-only', '--deny-read', '.env*', '--', 'cat', denied], { cwd, home })
    expect(told.stderr).toContain(`(deniedReads: **/.env*). To allow it: --readable ${cwd}/${denied}.`)
  })

  test.each(['.ssh', '.ssh/deep', '.config/fish', '.config/portcullis'])('does not work in ~/%s', async (name) => {
    const home = tempDir({ [`${name}/config`]: 'kept' })
    const cwd = join(home, name)
    const ended = await agent(['sandbox', '--', 'sh', '-c', 'cat config; echo x > authorized_keys'], { cwd, home })
    expect([ended.code, ended.stdout]).toEqual([2, ''])
    expect(ended.stderr).toMatch(/which is protected|is protected: credentials are kept there/)
    expect(readdirSync(cwd)).toEqual(['config'])
    const project = join(cwd, 'pack/plugin')
    mkdirSync(join(project, '.git'), { recursive: true })
    expect((await agent(['sandbox', '--', 'true'], { cwd: project, home })).code).toBe(0)
    if (name !== '.config/fish') return
    const allowed = ['-c', 'protected.allow=[".config/fish"]', '--', 'sh', '-c', 'echo x > config']
    expect((await agent(['sandbox', ...allowed], { cwd, home })).code).toBe(0)
    expect(readFileSync(join(cwd, 'config'), 'utf8')).toBe('x\n')
  })

  test('--env passes a variable through by name, or sets one', async () => {
    const args = [
      'sandbox',
      '--env',
      'DEPLOY_TOKEN',
      '--env',
      'COLOR=blue',
      '--',
      'sh',
      '-c',
      'echo $DEPLOY_TOKEN $COLOR',
    ]
    const ended = await agent(args, { cwd: tempDir(), home: tempDir(), env: { DEPLOY_TOKEN: 't' } })
    expect(ended.stdout).toBe('t blue\n')
  })

  test('the configuration counts, and flags override it', async () => {
    const [cwd, open] = [tempDir(), tempDir()]
    const config = [
      `sandbox_mode = "danger-full-access"`,
      `[sandbox_workspace_write]`,
      `writable_roots = ["${open}"]`,
      `[shell_environment_policy]`,
      `exclude = ["LANG"]`,
      `set = { COLOR = "blue", SIZE = "small" }`,
      `[sandbox_limits]`,
      `open_files = 99`,
    ].join('\n')
    const home = tempDir({ '.config/portcullis/config.toml': config })
    const env = { LANG: 'C.UTF-8' }
    const script = `touch ${open}/a; touch /usr/b; echo $COLOR $SIZE [$LANG]; ulimit -n`
    const ended = await agent(['sandbox', '--env', 'SIZE=large', '--', 'sh', '-c', script], { cwd, home, env })
    expect(ended.stdout).toBe('blue large []\n99\n')
    expect(existsSync(join(open, 'a'))).toBe(true)
    expect(existsSync('/usr/b')).toBe(false)
    const less = ['-c', 'sandbox_limits.open_files=50', '--limit', 'open-files=60']
    expect((await agent(['sandbox', ...less, '--', 'sh', '-c', 'ulimit -n'], { cwd, home })).stdout).toBe('60\n')
    const wrong = await agent(['sandbox', '-c', 'sandbox_limits.luck=7', '--', 'true'], { cwd, home })
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
  })

  test('--limit time ends the command, with the exit code of timeout(1)', async () => {
    const ended = await agent(['sandbox', '--limit', 'time=1', '--', 'sleep', '60'], {
      cwd: tempDir(),
      home: tempDir(),
    })
    expect(ended.code).toBe(124)
    expect(ended.stderr).toBe(
      'agent sandbox: The sandbox refused more than 1 s of running time; the command was stopped (limits.wallTimeMs). To allow it: raise the limit, e.g. --limit time=2.\n',
    )
  })

  test.each([
    [['-s', 'read-only'], 'touch f', '-s workspace-write'],
    [[], 'touch /usr/f', 'make /usr/f yourself, then --writable /usr/f'],
    [['--deny-read', '/etc/hostname'], 'cat /etc/hostname', '--readable /etc/hostname'],
    [[], 'cat ~/.ssh/id', '/.ssh/id'],
    [[], 'git ls-remote https://example.invalid/a', '--allow-host example.invalid'],
    [['--limit', 'file-size=1M'], 'head -c 2000000 /dev/zero > big', '--limit file-size=2M'],
    [['--limit', 'output=1K'], 'yes', '--limit output=2K'],
  ])('%j -- %s: what would allow it is said as a flag', async (flags, script, expected) => {
    const home = tempDir({ '.ssh/id': 'key' })
    const ended = await agent(['sandbox', ...flags, '--', 'sh', '-c', script], { cwd: tempDir(), home })
    expect(ended.stderr.split('\n').filter((line) => line.startsWith('agent sandbox: '))).toHaveLength(1)
    expect(ended.stderr).toContain(`${expected}.\n`)
  })

  test('--allow-host allows that host and no other, and the output says what was refused and how to allow it', async () => {
    const server = createServer((_, response) => response.end('hello from the host')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const ask = (host: string): string =>
      `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://${host}/ HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3`
    const script = `${ask(`0.0.0.0:${port}`)}; ${ask('example.invalid')}`
    const args = ['sandbox', '--allow-host', `0.0.0.0:${port}`, '--', 'bash', '-c', script]
    const ended = await agent(args, { cwd: tempDir(), home: tempDir() })
    expect(ended.stdout).toContain('hello from the host')
    expect(ended.stdout).toContain('403')
    expect(ended.stderr).toContain('example.invalid')
  })

  const named = spawnSync('getent', ['ahosts', hostname()]).status === 0 ? test : test.skip
  named('--allow-private-host allows a name that resolves to this machine, which --allow-host refuses', async () => {
    const server = createServer((_, response) => response.end('hello from here')).listen(0)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const host = `${hostname()}:${(server.address() as AddressInfo).port}`
    const script = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://${host}/ HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3`
    const ask = (flag: string) =>
      agent(['sandbox', flag, host, '--', 'bash', '-c', script], { cwd: tempDir(), home: tempDir() })
    expect((await ask('--allow-private-host')).stdout).toContain('hello from here')
    const refused = await ask('--allow-host')
    expect(refused.stdout).not.toContain('hello from here')
    expect(refused.stderr).toContain(`To allow it: --allow-private-host ${host}.`)
  })

  test('--service leads to a server of this machine, and what asks the proxy for it is told so', async () => {
    const server = createServer((_, response) => response.end('hello from the service')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const ask = (at: number, host: string): string =>
      `exec 3<>/dev/tcp/127.0.0.1/${at}; printf 'GET http://${host}/ HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3`
    const run = (flags: readonly string[], script: string) =>
      agent(['sandbox', ...flags, '--', 'bash', '-c', script], { cwd: tempDir(), home: tempDir() })
    const reached = await run(['--service', `web=localhost:${port}`], ask(port, 'web'))
    expect(reached.stdout).toContain('hello from the service')
    const refused = await run(['--allow-host', 'a.example'], ask(3128, `localhost:${port}`))
    expect(refused.stdout).not.toContain('hello')
    expect(refused.stderr).toContain(`To allow it: --service localhost:${port}.`)
  })

  test('--json prints output, ending and denials as one object, and exits as the command did', async () => {
    const args = ['sandbox', '--json', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']
    const ended = await agent(args, { cwd: tempDir(), home: tempDir() })
    expect(ended).toMatchObject({ code: 3, stderr: '' })
    expect(JSON.parse(ended.stdout)).toMatchObject({
      backend: 'bubblewrap',
      status: 'exited',
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      denials: [],
    })
  })

  test('SIGTERM ends the command too', async () => {
    const workspace = tempDir()
    const ended = await agent(['sandbox', '--', 'sh', '-c', 'touch started; sleep 60.25; touch survived'], {
      cwd: workspace,
      home: tempDir(),
      onStart: (child) => {
        const timer = setInterval(() => {
          if (!isRunning('60.25')) return
          clearInterval(timer)
          child.kill('SIGTERM')
        }, 20)
      },
    })
    expect(ended.code).toBe(143)
    expect(readdirSync(workspace)).toEqual(['started'])
  })
})

test.skipIf(needsBubblewrap())(
  'where no sandbox is to be had, it says what to install, exits 5 and runs nothing',
  async () => {
    const workspace = tempDir()
    const ended = await agent(['sandbox', '--', 'touch', 'a'], {
      cwd: workspace,
      home: tempDir(),
      startedBy: hidingBubblewrap,
    })
    expect(ended.code).toBe(5)
    expect(ended.stderr).toMatch(/^agent: .*bubblewrap.*install/)
    expect(existsSync(join(workspace, 'a'))).toBe(false)
  },
)

test('a backend without confinement is refused if confinement is requested', async () => {
  const args = ['sandbox', '--backend', 'unconfined', '--', 'true']
  expect(await agent(args, { cwd: tempDir(), home: tempDir() })).toMatchObject({ code: 5, stdout: '' })
})

test.each([
  [['sandbox'], 'missing required argument'],
  [['sandbox', '-s', 'none', '--', 'true'], 'Allowed choices are read-only, workspace-write, danger-full-access'],
  [['sandbox', '--limit', 'memory=lots', '--', 'true'], '--limit memory=lots: expected a number of bytes'],
  [['sandbox', '--network', 'full', '--allow-host', 'a.example', '--', 'true'], 'contradicts --network full'],
  [['sandbox', '--allow-host', 'not a host', '--', 'true'], 'network'],
  ...['localhost:5432', '127.0.0.1:5432', '[::1]:5432'].flatMap((host) =>
    ['--allow-host', '--allow-private-host'].map((flag): [string[], string] => [
      ['sandbox', flag, host, '--', 'true'],
      `is a service: --service ${host}, or services`,
    ]),
  ),
  [['sandbox', '--service', 'db', '--', 'true'], '--service "db": must be [NAME=]HOST:PORT'],
  [['sandbox', '--service', 'a:1', '--service', 'b:1', '--', 'true'], '--service "b:1": must not have two services'],
  [['sandbox', '--service', 'a:1', '--network', 'full', '--', 'true'], 'services: contradict the network mode full'],
  [['sandbox', '--limit', 'luck=7', '--', 'true'], 'expected one of time, output'],
  [['sandbox', '--limit', 'processes=1', '--', 'true'], 'limits.processes'],
  [['sandbox', '-C', '/no/such/dir', '--', 'true'], 'no such directory'],
  [['sandbox', '--frobnicate', '--', 'true'], "unknown option '--frobnicate'"],
])('%j is a usage error', async (args, message) => {
  const ended = await agent(args, { cwd: tempDir(), home: tempDir() })
  expect(ended.code).toBe(2)
  expect(ended.stdout).toBe('')
  expect(ended.stderr).toContain(message)
})

describe.skipIf(needsBubblewrap())('a reader that goes away', () => {
  test.each([
    ['seq', '100000'],
    ['yes', ''],
  ])('ends %s %s as SIGPIPE would, without a word', async (...command) => {
    const startedBy = ['bash', '-c', '"$@" | head -1; exit ${PIPESTATUS[0]}', 'bash']
    const words = ['sandbox', '--', ...command.filter((word) => word !== '')]
    const ended = await agent(words, { cwd: tempDir(), home: tempDir(), startedBy })
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 141, stderr: '' })
  })
})

test.skipIf(needsBubblewrap())('--deny-read hides a name without a slash at any depth, as the key does', async () => {
  const cwd = tempDir({ '.env': 'secret', 'a/b/.env': 'secret', 'a/other': 'shown' })
  const words = ['sandbox', '--deny-read', '.env', '--', 'sh', '-c', 'cat .env a/b/.env; cat a/other']
  const { stdout } = await agent(words, { cwd, home: tempDir() })
  expect(stdout).toBe('shown')
})

describe('agent sandbox --backend docker', () => {
  beforeAll(() => {
    if (spawnSync('docker', ['version']).status === 0) ensureImage()
  })

  const confined = [
    ...['sandbox', '--backend', 'docker', '--image', image],
    ...imageRoots.flatMap((root) => ['--readable', root]),
  ]

  testInDocker('passes standard input through, and does not wait for its end', async () => {
    const options = { cwd: tempDir(), home: tempDir() }
    const passed = await agent([...confined, '--', 'tr', 'a-z', 'A-Z'], { ...options, stdin: 'piped' })
    expect(passed).toEqual({ code: 0, signal: null, stdout: 'PIPED', stderr: '' })
    const silent = await agent([...confined, '--', 'echo', 'out'], { ...options, keepStdinOpen: true })
    expect(silent).toEqual({ code: 0, signal: null, stdout: 'out\n', stderr: '' })
  })

  testInDocker('has the network allow-list', async () => {
    const command = ['--allow-host', 'site.example', '--', 'curl', '-sS', '-m', '20', 'http://evil.example/']
    const { stderr } = await agent([...confined, ...command], { cwd: tempDir(), home: tempDir() })
    expect(stderr).toContain('refused a connection to evil.example:80')
    expect(stderr).toContain('--allow-host evil.example')
  })
})
