import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeAll, describe, expect, onTestFinished, test as plain } from 'vitest'
import {
  openSandbox,
  parsePolicy,
  SandboxError,
  type NetworkDecision,
  type Sandbox,
  type SandboxPolicyInput,
} from '../../../sandbox/index.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { ensureImage, image, imageRoots } from '../docker-image.ts'
import { run, temporaryDirectory, testInBubblewrap, testInDocker } from '../helpers.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0
const noCurl = hasCurl ? undefined : 'there is no curl to try the network with'

beforeAll(() => {
  if (spawnSync('docker', ['version']).status === 0) ensureImage()
})

const opened: Sandbox[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()))
})

type Allow = Extract<NonNullable<SandboxPolicyInput['network']>, { mode: 'allowlist' }>['allow']

/**
 * Starts a web server on loopback under the name `site.test`, and opens a sandbox that may connect to this name. A test can allow more hosts, and say
 * to which addresses names resolve (by default, all of them resolve to loopback).
 */
async function openIn(
  backend: 'bubblewrap' | 'docker',
  more: { readonly allow?: Allow; readonly answers?: Readonly<Record<string, readonly string[]>> } = {},
) {
  const server = createServer((message, response) => {
    if (message.url === '/away') response.writeHead(302, { location: `http://evil.test:${port}/` }).end()
    else response.end(`served ${message.headers.host}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const asked: string[] = []
  const decisions: NetworkDecision[] = []
  const policy = parsePolicy({
    mode: 'workspace-write',
    // Node may be installed in a place that is private in the sandbox, such as /tmp.
    readableRoots: [dirname(process.execPath), ...(backend === 'docker' ? imageRoots : [])],
    workspace: await temporaryDirectory(),
    network: { mode: 'allowlist', allow: [{ host: `site.test:${port}`, allowPrivate: true }, ...(more.allow ?? [])] },
  })
  const sandbox = await openSandbox(policy, {
    backend,
    image,
    network: {
      onDecision: (decision) => decisions.push(decision),
      resolve: async (name) => {
        asked.push(name)
        return more.answers?.[name] ?? ['127.0.0.1']
      },
    },
  })
  opened.push(sandbox)
  return { sandbox, port, asked, decisions }
}

const curl = 'curl -sS -m 20'

describe.each(['bubblewrap', 'docker'] as const)('in %s', (backend) => {
  const runs = backend === 'docker' ? testInDocker : testInBubblewrap
  const test = testUnlessOnCi(noCurl, runs)
  const open = (more: Parameters<typeof openIn>[1] = {}): ReturnType<typeof openIn> => openIn(backend, more)

  test('an allowed host answers over plain HTTP, over CONNECT and over SOCKS5', async () => {
    const { sandbox, port, decisions } = await open()
    for (const options of ['', '-p', '-x socks5h://127.0.0.1:3128']) {
      const ran = await run(sandbox, `${curl} ${options} http://site.test:${port}/`)
      expect(ran).toMatchObject({ stdout: `served site.test:${port}`, result: { code: 0, denials: [] } })
    }
    expect(decisions.map(({ via }) => via)).toEqual(['http', 'connect', 'socks5'])
  })

  test('Node finds the proxy by itself', async () => {
    const { sandbox, port } = await open()
    const script = `fetch('http://SITE.test.:${port}/').then((answer) => answer.text()).then(console.log)`
    const started = [process.execPath, '-e', script] as const
    expect((await run(sandbox, '', { argv: started })).stdout).toBe(`served site.test:${port}\n`)
  })

  test('everything else is refused without a name lookup', async () => {
    const { sandbox, port, asked } = await open()
    const attempts = [
      `http://evil.test:${port}/`,
      `-p http://evil.test:${port}/`,
      `-x socks5h://127.0.0.1:3128 http://evil.test:${port}/`,
      `-p http://site.test.evil.test:${port}/`,
      `-p http://127.0.0.1:${port}/ --proxy http://127.0.0.1:3128 --noproxy ''`,
      `-p http://[::1]:${port}/ --noproxy ''`,
      `http://localhost:${port}/ --noproxy ''`,
      `http://2130706433:${port}/ --noproxy ''`,
      `http://169.254.169.254/latest/meta-data/`,
      `-p http://169.254.169.254/latest/meta-data/`,
      `http://[fd00:ec2::254]/latest/meta-data/`,
      `-p http://xn--ste-tza.test:${port}/`,
      `-p http://site.test:22/`,
      `-p -H 'Host: site.test' http://evil.test:${port}/`,
      `--http1.1 -p -H 'Connection: Upgrade' -H 'Upgrade: websocket' http://evil.test:${port}/`,
      `--connect-to site.test:${port}:evil.test:${port} -p http://site.test:${port}/`,
      `--noproxy '*' http://127.0.0.1:${port}/`,
      `--noproxy '*' http://site.test:${port}/`,
      `--noproxy '*' http://93.184.215.14/`,
      `--noproxy '*' --interface lo http://[::1]:${port}/`,
    ]
    const script = attempts.map((attempt) => `${curl} ${attempt}; echo "#"`).join('\n')
    const { stdout, result } = await run(sandbox, script)
    expect(stdout).not.toContain('served')
    expect(stdout.match(/#/g)).toHaveLength(attempts.length)
    expect(asked).toEqual([])
    // A denial that the proxy saw is proven. One that only appears in the output of a successful script is not.
    const proven = result.denials.filter(({ certainty }) => certainty === 'proven')
    expect(proven.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining([
        `evil.test:${port}`,
        `127.0.0.1:${port}`,
        '169.254.169.254:80',
        '[fd00:ec2::254]:80',
        'site.test:22',
      ]),
    )
    expect(new Set(result.denials.map(({ kind }) => kind))).toEqual(new Set(['host']))
  })

  test('a redirect to another host ends there', async () => {
    const { sandbox, port } = await open()
    const { stdout, result } = await run(sandbox, `${curl} -L http://site.test:${port}/away`)
    expect(stdout).toMatch(/^The sandbox refused a connection to evil\.test/)
    expect(result.denials.map(({ subject }) => subject)).toEqual([`evil.test:${port}`])
  })

  test('an allowed name that resolves to loopback is refused', async () => {
    const { sandbox, port } = await open({ allow: ['rebound.test:*'] })
    const { stdout, result } = await run(sandbox, `${curl} http://rebound.test:${port}/`)
    expect(stdout).not.toContain('served')
    expect(result.denials).toMatchObject([{ subject: `rebound.test:${port}, which is 127.0.0.1` }])
  })

  test('there is no name service, no unix socket of the proxy, and no descriptor for it', async () => {
    const { sandbox } = await open()
    const look = 'getent hosts example.com; tail -n +2 /proc/net/unix; ls -l /proc/self/fd | grep socket'
    expect((await run(sandbox, look)).stdout).toBe('')
  })

  test('a command reaches its own servers directly, but no other command’s', async () => {
    const { sandbox } = await open()
    const serve = `require('http').createServer((q, s) => s.end('own')).listen(8099, () => console.log('up'))`
    const other = sandbox.spawn({ argv: [process.execPath, '-e', serve], cwd: sandbox.policy.workspace })
    await once(other.stdout, 'data')
    expect((await run(sandbox, `${curl} http://127.0.0.1:8099/`)).stdout).toBe('')
    const own = `"${process.execPath}" -e "${serve.replaceAll('"', '\\"')}" & sleep 0.1; curl -sS --retry 50 --retry-delay 0 --retry-connrefused http://localhost:8099/`
    expect((await run(sandbox, own)).stdout).toContain('own')
    other.kill()
    await other.result
  })

  test('each command is told its own denials', async () => {
    const { sandbox } = await open()
    const names = Array.from({ length: 8 }, (_, index) => `evil${index}.test`)
    const ran = await Promise.all(names.map((name) => run(sandbox, `${curl} http://${name}/`)))
    expect(ran.map(({ result }) => result.denials.map(({ subject }) => subject))).toEqual(
      names.map((name) => [`${name}:80`]),
    )
  })

  test('closing leaves nothing that keeps the program alive, whatever a command was doing', async () => {
    const index = new URL('../../../sandbox/index.ts', import.meta.url).pathname
    const script = `
    const { openSandbox, parsePolicy } = await import(${JSON.stringify(index)})
    const workspace = ${JSON.stringify(await temporaryDirectory())}
    const network = { mode: 'allowlist', allow: [{ host: 'slow.test', allowPrivate: true }] }
    const readableRoots = ${JSON.stringify(imageRoots)}
    const resolve = async () => ['127.0.0.1']
    const sandbox = await openSandbox(parsePolicy({ mode: 'read-only', workspace, readableRoots, network }), {
      backend: '${backend}', image: '${image}', network: { resolve },
    })
    const silent = 'exec 3<>/dev/tcp/127.0.0.1/3128; sleep 600'
    sandbox.spawn({ argv: ['bash', '-c', silent], cwd: workspace })
    const quick = sandbox.spawn({ argv: ['true'], cwd: workspace })
    await quick.result
    await new Promise((resolve) => setTimeout(resolve, 300))
    await sandbox.close()
    console.log(process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|File/.test(name)).join())
  `
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 30_000,
    })
    expect(ended).toMatchObject({ status: 0, stderr: '' })
  })

  test('consecutive commands, with a time-out in between, find the port free each time', async () => {
    const { sandbox, port } = await open()
    const script = `${curl} http://site.test:${port}/`
    expect((await run(sandbox, script)).stdout).toBe(`served site.test:${port}`)
    const cleaned = await run(sandbox, `trap 'echo cleaned; exit 0' TERM; ${script}; while :; do sleep 0.05; done`, {
      timeoutMs: 1500,
    })
    expect(cleaned).toMatchObject({ stdout: `served site.test:${port}cleaned\n`, result: { status: 'timed-out' } })
    expect((await run(sandbox, script)).stdout).toBe(`served site.test:${port}`)
  })

  test('a unix socket of the host in the workspace is out of reach', async () => {
    const { sandbox } = await open()
    const path = join(sandbox.policy.workspace, 'socket')
    const server = createSocketServer((socket) => socket.end('reached')).listen(path)
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const script = `require('net').connect('${path}').on('error', ({ code }) => console.log(code)).on('data', String)`
    expect((await run(sandbox, '', { argv: [process.execPath, '-e', script] })).stdout).toBe('EPERM\n')
  })

  test('there is no network but loopback', async () => {
    const { sandbox } = await open()
    expect((await run(sandbox, 'tail -n +3 /proc/net/dev | cut -d: -f1')).stdout.trim()).toBe('lo')
  })
})

testInDocker('in a container, not even the first process may create a unix socket', async () => {
  const { sandbox } = await openIn('docker')
  const look = (pid: string): string => `grep Seccomp_filters /proc/${pid}/status`
  expect((await run(sandbox, `[ "$(${look('1')})" = "$(${look('self')})" ] && echo same`)).stdout).toBe('same\n')
})

testInDocker(
  'a working directory that the container lacks is an error that says so, and the next command runs',
  async () => {
    const { sandbox } = await openIn('docker')
    const started = sandbox.spawn({ argv: ['true'], cwd: await temporaryDirectory() })
    await expect(started.result).rejects.toThrow(/working directory is not in the container/)
    expect((await run(sandbox, 'echo next')).stdout).toBe('next\n')
  },
)

plain('a backend without confinement refuses an allow-list', async () => {
  const workspace = await temporaryDirectory()
  const policy = parsePolicy({ mode: 'danger-full-access', workspace, network: { mode: 'allowlist', allow: [] } })
  const error = await openSandbox(policy).catch((error: unknown) => error)
  expect(SandboxError.is(error, 'unavailable') && error.data.reason).toMatch(/allow-list/)
})
