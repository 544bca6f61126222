import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { shortenCommand } from '../../sandbox/process/long-command.ts'
import { describeInBoth } from './both-backends.ts'
import { image, imageRoots } from './docker-image.ts'
import { openSandbox, parsePolicy, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { closeLater, codeOf, openFor, run, temporaryDirectory, type Ran } from './helpers.ts'

const agent = new URL('../../dist/bin/agent.js', import.meta.url).pathname

/** A script that is far longer than an argument may be, and that begins and ends with the given lines. */
const long = (first: string, last: string): string =>
  `${first}\ncat > /dev/null <<'END'\n${'it’s "$(odd)" \\ `text`\n'.repeat(100_000)}END\n${last}`

describeInBoth('long commands in %s', ({ backend, test: testIn, readableRoots }) => {
  const open = async (more: Partial<SandboxPolicyInput> = {}) => {
    const workspace = await temporaryDirectory()
    const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots, ...more })
    return closeLater(await openSandbox(policy, { backend, ...(backend === 'docker' ? { image } : {}) }))
  }

  testIn('a script longer than an argument runs as it is, and its standard input is untouched', async () => {
    const sandbox = await open()
    const script = long('read -r line; echo "$0 $# $1 $line"', 'ls /proc/self/fd | wc -l; cat; exit 7')
    const started = sandbox.spawn({
      argv: ['/bin/bash', '-c', script, 'name', 'one'],
      cwd: sandbox.policy.workspace,
      stdin: 'pipe',
    })
    started.stdin?.end('typed\nmore\n')
    const [stdout, stderr, result] = await Promise.all([text(started.stdout), text(started.stderr), started.result])
    // `ls` has the three streams, and the directory that it reads.
    expect({ stdout, code: codeOf({ stdout, stderr, result }) }).toEqual({
      stdout: 'name 1 one typed\n4\nmore\n',
      code: 7,
    })
  })

  testIn('it runs in a terminal, in a login shell, and with an allow-list of hosts', async () => {
    const sandbox = await open({ network: { mode: 'allowlist', allow: [{ host: 'example.com' }] } })
    const script = long('echo "$-" > flags', 'tty > where; echo "$HTTP_PROXY" > proxy')
    const ran = await run(sandbox, '', {
      argv: ['/bin/bash', '-lc', script],
      terminal: { columns: 80, rows: 24 },
    })
    expect(codeOf(ran)).toBe(0)
    const { stdout } = await run(sandbox, 'cat flags where proxy')
    expect(stdout).toMatch(/^\w+\n\/dev\/pts\/\d+\nhttp:\/\/127\.0\.0\.1:3128\n$/)
  })

  testIn('more than 9,000 arguments arrive in order', async () => {
    const sandbox = await open()
    const words = Array.from({ length: 20_000 }, (_, index) => `it's ${index}`)
    const argv = ['sh', '-c', 'shift 19998; echo "$#: $1, $2"', 'sh', ...words] as const
    const ran = await run(sandbox, '', { argv: [...argv] })
    expect(ran).toMatchObject({ stdout: "2: it's 19998, it's 19999\n", stderr: '', result: { code: 0 } })
  })

  testIn('an argument that no program can get is refused by the system', async () => {
    const sandbox = await open()
    const ran: Ran = await run(sandbox, '', { argv: ['true', 'x'.repeat(200_000)] })
    expect({ code: codeOf(ran), told: /argument list too long/i.test(ran.stderr) }).toEqual({ code: 126, told: true })
  })

  testIn('agent sandbox takes more than 9,000 arguments', async () => {
    const words = Array.from({ length: 12_000 }, (_, index) => `file-${index}`)
    const shown = imageRoots.flatMap((root) => ['--readable', root])
    const where = backend === 'docker' ? ['--backend', 'docker', '--image', image, ...shown] : []
    const ran = spawnSync(process.execPath, [agent, 'sandbox', ...where, '--', 'printf', '%s\n', ...words], {
      cwd: await temporaryDirectory(),
      env: { PATH: process.env['PATH'], HOME: join(await temporaryDirectory()) },
      encoding: 'utf8',
    })
    expect({ ...ran, stdout: ran.stdout.split('\n').length }).toMatchObject({ status: 0, stdout: 12_001 })
  })
})

test('without a sandbox, long commands run too', async () => {
  const sandbox = await openFor({ mode: 'danger-full-access', workspace: await temporaryDirectory() }, 'unconfined')
  const ran = await run(sandbox, long('echo first', 'readlink /proc/self/fd/* | grep -c command-'))
  expect(ran).toMatchObject({ stdout: 'first\n0\n', stderr: '', result: { code: 1 } })
})

test('a command that fits is started as it is', () => {
  expect(shortenCommand(['sh', '-c', 'x'.repeat(90_000)], 9)).toBe(undefined)
  expect(shortenCommand(['ls', ...Array<string>(7000).fill('a')], 9)).toBe(undefined)
})
