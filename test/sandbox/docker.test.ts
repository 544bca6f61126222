import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeAll, expect, test as plain } from 'vitest'
import { compileFilter } from '../../sandbox/seccomp/compile.ts'
import { memoize } from '../../sandbox/memoize.ts'
import { dockerProfile } from '../../sandbox/seccomp/docker-profile.ts'
import { filterRules } from '../../sandbox/seccomp/rules.ts'
import { syscallNumber, syscallsOf, type Syscall } from '../../sandbox/seccomp/syscalls.ts'
import { openSandbox, parsePolicy, type Sandbox, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { interpret } from './bpf.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import { asView } from './git-repositories.ts'
import { codeOf, processesWith, run, temporaryDirectory, testInDocker as test } from './helpers.ts'

beforeAll(() => {
  if (spawnSync('docker', ['version']).status === 0) ensureImage()
})

const opened: Sandbox[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()))
  expect(containersOf(process.pid)).toEqual([])
})

async function open(more: Partial<SandboxPolicyInput> = {}): Promise<Sandbox> {
  const workspace = await temporaryDirectory()
  const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots: [...imageRoots], ...more })
  const sandbox = await openSandbox(policy, { backend: 'docker', image })
  opened.push(sandbox)
  return sandbox
}

function containersOf(pid: number): readonly string[] {
  const format = '{{.Label "dev.portcullis.owner"}} {{.ID}} {{.State}}'
  const { stdout } = spawnSync('docker', ['ps', '-a', '--filter', 'label=dev.portcullis.owner', '--format', format], {
    encoding: 'utf8',
  })
  // If there is no docker, there is no output.
  return (stdout ?? '').split('\n').filter((line) => line.includes(`-${pid}-`))
}

test('a read-only command writes only in the shared temporary directory', async () => {
  const sandbox = await open()
  const readOnly = { readOnly: true }
  expect(codeOf(await run(sandbox, 'echo no > file', readOnly))).not.toBe(0)
  expect(codeOf(await run(sandbox, 'echo note > /tmp/note', readOnly))).toBe(0)
  expect((await run(sandbox, 'cp /tmp/note file && cat file')).stdout).toBe('note\n')
})

test('a container that never starts is removed, and keeps no process from its end', async () => {
  const tree = await temporaryDirectory()
  await writeFile(join(tree, 'tmp'), 'where a directory has to be')
  const name = `portcullis-test-never-starts-${process.pid}:latest`
  spawnSync('sh', ['-c', `tar -C '${tree}' -c . | docker import - ${name}`])
  const program = `
    import { openSandbox, parsePolicy } from ${JSON.stringify(new URL('../../sandbox/index.ts', import.meta.url).href)}
    const policy = parsePolicy({ mode: 'workspace-write', workspace: ${JSON.stringify(await temporaryDirectory())} })
    try {
      const sandbox = await openSandbox(policy, { backend: 'docker', image: '${name}' })
      const result = await sandbox.spawn({ argv: ['true'], cwd: policy.workspace }).result.catch((error) => error)
      await sandbox.close()
      throw result
    } catch (error) { console.log(process.pid, error.code) }`
  try {
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    const [pid = '', code] = ended.stdout.trim().split(' ')
    expect({ status: ended.status, code, left: containersOf(Number(pid)) }).toEqual({
      status: 0,
      code: 'unavailable',
      left: [],
    })
  } finally {
    spawnSync('docker', ['image', 'rm', name])
  }
})

test('exit codes, and bytes of both streams apart, come through as they are', async () => {
  const sandbox = await open()
  const argv = ['sh', '-c', 'printf "\\377\\000a"; printf "\\200" >&2; exit 7'] as const
  const started = sandbox.spawn({ argv, cwd: sandbox.policy.workspace })
  const [stdout, stderr, result] = await Promise.all([buffer(started.stdout), buffer(started.stderr), started.result])
  expect([[...stdout], [...stderr]]).toEqual([[255, 0, 97], [128]])
  expect(result).toMatchObject({ status: 'exited', code: 7 })
  expect(codeOf(await run(sandbox, 'kill -KILL $$'))).toBe(137)
  expect((await run(sandbox, 'head -c 20000000 /dev/zero')).stdout.length).toBe(20_000_000)
  const typed = sandbox.spawn({ argv: ['cat'], cwd: sandbox.policy.workspace, stdin: 'pipe' })
  typed.stdin?.end('typed')
  expect((await buffer(typed.stdout)).toString()).toBe('typed')
})

test('files belong to the caller, /tmp is kept for the run, and commands share one warm container', async () => {
  const sandbox = await open()
  const { workspace } = sandbox.policy
  await run(sandbox, 'echo made > file; echo kept > /tmp/kept')
  expect((await stat(join(workspace, 'file'))).uid).toBe(process.geteuid?.())
  expect((await run(sandbox, 'cat /tmp/kept')).stdout).toBe('kept\n')
  expect(containersOf(process.pid)).toHaveLength(1)
})

test('its shell is bash if the image has it, and otherwise sh', async () => {
  const withBash = await open()
  expect(withBash.shell).toBe('/bin/bash')
  const policy = parsePolicy({ mode: 'workspace-write', workspace: await temporaryDirectory() })
  const busybox = await openSandbox(policy, { backend: 'docker', image: 'portcullis-test:latest' })
  opened.push(busybox)
  expect(busybox.shell).toBe('/bin/sh')
  const { stdout } = await run(busybox, '', { argv: [busybox.shell, '-c', 'echo "$0 reads this"'] })
  expect(stdout).toBe('/bin/sh reads this\n')
})

test("a command has the image's own PATH and a home that it can write to, unless the policy sets others", async () => {
  const look = 'echo "$HOME"; [ "$PATH" = "$HOSTPATH" ] && echo same; touch "$HOME/file" && echo written'
  const environment = { set: { HOSTPATH: process.env['PATH'] ?? '' } }
  expect((await run(await open({ environment }), look)).stdout).toBe('/tmp\nwritten\n')
  expect((await run(await open({ environment: { set: { HOME: '/dev/shm' } } }), look)).stdout).toBe(
    '/dev/shm\nwritten\n',
  )
})

test('read-only writes only to its private temporary directory', async () => {
  const sandbox = await open({ mode: 'read-only' })
  expect(codeOf(await run(sandbox, 'echo no > file'))).not.toBe(0)
  expect(codeOf(await run(sandbox, 'echo yes > /tmp/file && echo yes > /dev/shm/file'))).toBe(0)
  expect(await readdir(sandbox.policy.workspace)).toEqual([])
})

test('denied files inside a granted root appear empty, and can’t be uncovered', async () => {
  const home = await temporaryDirectory()
  await mkdir(join(home, '.ssh'))
  await writeFile(join(home, '.ssh/id'), 'secret')
  await writeFile(join(home, '.netrc'), 'secret')
  const deniedReads = [join(home, '.ssh'), join(home, '.netrc')]
  const sandbox = await open({ writableRoots: [home], deniedReads })
  const { stdout } = await run(sandbox, `cat ${home}/.ssh/id ${home}/.netrc; umount ${home}/.ssh; cat ${home}/.ssh/id`)
  expect(stdout).toBe('')
})

test('git metadata is protected like in any backend', async () => {
  const workspace = await temporaryDirectory()
  spawnSync('git', ['init', '-q', workspace])
  const sandbox = await open(await asView(workspace))
  expect(codeOf(await run(sandbox, 'mv .git other'))).not.toBe(0)
  await run(sandbox, 'echo ../evil > .git/commondir; echo x > .git/hooks/pre-commit')
  expect(existsSync(join(workspace, '.git/commondir'))).toBe(false)
  expect(existsSync(join(workspace, '.git/hooks/pre-commit'))).toBe(false)
  await run(sandbox, 'rm .git/commondir .git/hooks/pre-commit')
  const commit = 'echo a > a; git add -A && git -c user.name=a -c user.email=a@b commit -qm first'
  expect(await run(sandbox, commit)).toMatchObject({ result: { code: 0, denials: [] } })
})

test('a time-out, an abort and a background child leave nothing running', async () => {
  const sandbox = await open()
  const others = 'ps -eo pid=,args= | grep -c "[s]leep 9"'
  expect((await run(sandbox, 'trap "" TERM; setsid sleep 999 & sleep 999', { timeoutMs: 500 })).result.status).toBe(
    'timed-out',
  )
  const started = await run(sandbox, 'sleep 999 & setsid sleep 998 & echo done')
  expect(started).toMatchObject({ stdout: 'done\n', result: { status: 'exited', code: 0 } })
  expect((await run(sandbox, others)).stdout).toBe('0\n')
  const cleaned = await run(sandbox, `trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.05; done`, {
    timeoutMs: 700,
  })
  expect(cleaned).toMatchObject({ stdout: 'up\ncleaned\n', result: { status: 'timed-out' } })
})

test('limits are those of the policy', async () => {
  const sandbox = await open({
    limits: { processes: 40, memoryBytes: 64 * 1024 ** 2, fileSizeBytes: 1024 ** 2, openFiles: 50 },
  })
  const forked = await run(sandbox, 'i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done; echo all')
  expect(forked.stdout).toBe('')
  expect(forked.result.denials).toMatchObject([{ rule: 'limits.processes', certainty: 'proven' }])
  const bloated = await run(sandbox, 'head -c 200000000 /dev/zero | tail -c 190000000 | wc -c')
  expect(bloated.stdout).not.toBe('190000000\n')
  expect(bloated.result.denials).toMatchObject([{ rule: 'limits.memoryBytes', certainty: 'proven' }])
  expect((await run(sandbox, 'echo "fork: Cannot allocate memory" >&2; exit 137')).result.denials).toEqual([])
  expect(
    (await run(sandbox, 'ulimit -n; ulimit -c; head -c 2000000 /dev/zero > /tmp/big; stat -c %s /tmp/big')).stdout,
  ).toBe('50\n0\n1048576\n')
})

test('processor time is limited on request, and no other backend accepts that', async () => {
  const limits = { cpus: 0.5 }
  const { stdout } = await run(await open({ limits }), 'cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us')
  expect(stdout).toMatch(/^50000\b/)
  const policy = parsePolicy({ mode: 'read-only', workspace: await temporaryDirectory(), limits })
  await expect(openSandbox(policy, { backend: 'bubblewrap' })).rejects.toThrow(
    /limits\.cpus, .* Use the docker backend/,
  )
})

test('eight commands at once each have their own container', async () => {
  const sandbox = await open()
  const ran = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((number) => run(sandbox, `sleep 0.3; echo ${number}`)))
  expect(ran.map(({ stdout }) => stdout).join('')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n')
})

test('containers that a killed run left are removed by the next, and no others', async () => {
  const owner = `${(await stat('/proc/self/ns/pid')).ino}-4194304-1`
  const create = (label: string): string =>
    spawnSync('docker', ['create', '--label', label, image, '/bin/true'], { encoding: 'utf8' }).stdout.trim()
  const [dead, foreign] = [create(`dev.portcullis.owner=${owner}`), create('somebody=else')]
  await open()
  expect(spawnSync('docker', ['inspect', dead]).status).not.toBe(0)
  expect(spawnSync('docker', ['rm', foreign]).status).toBe(0)
})

test('a missing image is refused with advice', async () => {
  const policy = parsePolicy({ mode: 'read-only', workspace: await temporaryDirectory() })
  await expect(openSandbox(policy, { backend: 'docker' })).rejects.toThrow(/no image is named/)
  await expect(openSandbox(policy, { backend: 'docker', image: 'absent:1' })).rejects.toThrow(/docker pull absent:1/)
})

plain('a missing daemon is refused with the address that was tried', async () => {
  const before = process.env['DOCKER_HOST']
  process.env['DOCKER_HOST'] = 'unix:///absent/docker.sock'
  try {
    const policy = parsePolicy({ mode: 'read-only', workspace: await temporaryDirectory() })
    await expect(openSandbox(policy, { backend: 'docker', image })).rejects.toThrow(
      /no daemon answers at unix:\/\/\/absent/,
    )
  } finally {
    if (before === undefined) delete process.env['DOCKER_HOST']
    else process.env['DOCKER_HOST'] = before
  }
})

const entriesOf = memoize((profile: ReturnType<typeof dockerProfile>) => {
  const found = new Map<string, (typeof profile.syscalls)[number][]>()
  for (const entry of profile.syscalls)
    for (const name of entry.names) found.set(name, [...(found.get(name) ?? []), entry])
  return (name: Syscall) => found.get(name) ?? []
})

/** What a profile says about a call: the entries whose conditions all hold, or the default if there is none. */
function judge(profile: ReturnType<typeof dockerProfile>, name: Syscall, args: readonly number[]): readonly unknown[] {
  const found = entriesOf(profile)(name).filter((entry) =>
    entry.args.every(({ index, value, valueTwo }) => ((args[index] ?? 0) & value) >>> 0 === valueTwo),
  )
  return found.length === 0 ? [profile.defaultErrnoRet] : found.map(({ errnoRet }) => errnoRet ?? 'allow')
}

plain.each(['loopback', 'internet', 'entry'] as const)(
  'with the sockets %s, exactly one entry of the profile decides about any arguments, as the filter does',
  (sockets) => {
    const profile = dockerProfile(sockets)
    const rules = filterRules(sockets === 'entry' ? 'loopback' : sockets, sockets === 'entry')
    const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
    const filter = compileFilter(rules, architecture)
    // The bits and values that rules test, alone and combined, and others beside them.
    const values = [
      ...[0, 1, 2, 3, 5, 6, 10, 16, 17, 38, 0o100, 0o644, 0o2755, 0o4755, 0o2000000, 0o20200000],
      ...[8, 0x20000, 0x40000, 0x60008, 0x5412, 0x5413, 0x541c, 1024, 1033, 0x10000000, 0x7fffffff, 0xffffffff],
    ]
    const different = syscallsOf(architecture).flatMap((name) => {
      const number = syscallNumber(name, architecture) ?? -1
      const tried = rules.some(({ syscall }) => syscall === name) ? values : [0]
      const some = tried.filter((value) => value < 8 || value > 0o600)
      // The fourth argument, the mode of openat, gets the values of the second.
      const all = tried.flatMap((first) =>
        tried.flatMap((second) => some.map((third) => [first, second, third, second])),
      )
      return all.flatMap((args) => {
        const verdict = interpret(filter, {
          number,
          architecture: architecture === 'x64' ? 0xc000_003e : 0xc000_00b7,
          arguments: args.map(BigInt),
        })
        const wanted = typeof verdict === 'string' ? verdict : verdict.errno
        const found = judge(profile, name, args)
        return found.length === 1 && found[0] === wanted ? [] : [{ name, args, wanted, found }]
      })
    })
    expect(different).toEqual([])
  },
)

test('the system calls of the profile are refused for real', async () => {
  const sandbox = await open()
  const script =
    'unshare -U true 2>/dev/null && echo GOT; chroot / true 2>/dev/null && echo GOT; mount -t tmpfs x /mnt 2>/dev/null && echo GOT; touch /tmp/f; chmod 4755 /tmp/f 2>/dev/null && echo GOT; true'
  expect((await run(sandbox, script)).stdout).toBe('')
})

test('a process that kills its shell does not outlive its command, and can’t reach the first process', async () => {
  const sandbox = await open()
  for (let count = 0; count < 3; count += 1) {
    await run(sandbox, 'setsid sleep 98765 & kill -9 $PPID')
    expect(processesWith('sleep 98765')).toEqual([])
  }
  const reach = await run(sandbox, 'cat /proc/1/environ; exec 9<>/proc/1/fd/0; cat /dev/portcullis-start/helper')
  expect(reach.stdout).toBe('')
  expect(codeOf(reach)).not.toBe(0)
})

test('a protected file that the host replaces while a container waits is protected for the next command', async () => {
  const sandbox = await open()
  const settings = join(sandbox.policy.workspace, '.envrc')
  await writeFile(settings, 'one')
  await run(sandbox, 'true')
  await writeFile(`${settings}.new`, 'two')
  await rename(`${settings}.new`, settings)
  expect((await run(sandbox, 'cat .envrc; echo evil > .envrc')).stdout).toBe('two')
  expect(await readFile(settings, 'utf8')).toBe('two')
})
