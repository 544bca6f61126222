import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { testUnless, whyNoControlGroups } from '../support/needs.ts'
import { asView, git, initialise } from './git-repositories.ts'
import { codeOf, openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

test('workspace-write writes only in the workspace, as the caller', async () => {
  const workspace = await temporaryDirectory()
  const outside = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots: [outside] })
  expect(codeOf(await run(sandbox, 'echo made > file'))).toBe(0)
  expect(await readFile(join(workspace, 'file'), 'utf8')).toBe('made\n')
  expect((await stat(join(workspace, 'file'))).uid).toBe(process.geteuid?.())
  expect(codeOf(await run(sandbox, `echo no > ${outside}/file`))).not.toBe(0)
  expect(codeOf(await run(sandbox, 'echo no > /etc/made || echo no > /usr/made'))).not.toBe(0)
  expect(codeOf(await run(sandbox, 'echo no > "$HOME/made-in-a-sandbox"'))).toBe(0)
  expect(existsSync(join(homedir(), 'made-in-a-sandbox'))).toBe(false)
  expect(await readdir(outside)).toEqual([])
})

test('read-only writes only in its private temporary directory', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'read-only', workspace })
  expect(codeOf(await run(sandbox, 'echo no > file'))).not.toBe(0)
  expect(codeOf(await run(sandbox, 'echo yes > "$TMPDIR/file" && echo yes > /dev/shm/file'))).toBe(0)
  expect(await readdir(workspace)).toEqual([])
})

test('a read-only command writes only in the shared temporary directory', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const readOnly = { readOnly: true }
  expect(codeOf(await run(sandbox, 'echo no > file', readOnly))).not.toBe(0)
  expect(codeOf(await run(sandbox, 'echo note > /tmp/note', readOnly))).toBe(0)
  expect((await run(sandbox, 'cp /tmp/note file && cat file')).stdout).toBe('note\n')
})

test('a command can read in a linked worktree, and can’t write to its repository', async () => {
  const [repository, directory] = [await temporaryDirectory(), await temporaryDirectory()]
  const workspace = join(directory, 'worktree')
  const git = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', repository]
  spawnSync('git', ['init', '-q', repository])
  spawnSync('git', [...git, 'commit', '-q', '--allow-empty', '-m', 'first'])
  spawnSync('git', [...git, 'worktree', 'add', '-q', workspace])
  const sandbox = await openFor({ mode: 'workspace-write', workspace, readableRoots: [repository] })
  for (const readOnly of [true, false]) {
    expect((await run(sandbox, 'git log --format=%s', { readOnly })).stdout).toBe('first\n')
    expect((await run(sandbox, 'git branch other', { readOnly })).stderr).toContain('Read-only file system')
  }
})

test("the temporary directory is the run's own: kept from one command to the next, not the host's, gone at the end", async () => {
  const workspace = await temporaryDirectory()
  const mark = `mark-${process.pid}-${Date.now()}`
  const pattern = new RegExp(`^portcullis-run-\\d+-${process.pid}-`)
  const directoriesOfRuns = async () => (await readdir(tmpdir())).filter((name) => pattern.test(name))
  // Other tests of this process may have left sandboxes open.
  const others = await directoriesOfRuns()
  const sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace }))
  await run(sandbox, `echo kept > /tmp/${mark}; mkdir -m 000 /tmp/closed`)
  expect(await directoriesOfRuns()).not.toEqual(others)
  expect((await run(sandbox, `cat /tmp/${mark}`)).stdout).toBe('kept\n')
  expect(existsSync(join(tmpdir(), mark))).toBe(false)
  await sandbox.close()
  expect(await directoriesOfRuns()).toEqual(others)
})

test('files that a killed run left behind are removed by the next', async () => {
  const workspace = await temporaryDirectory()
  const dead = join(tmpdir(), `portcullis-run-${(await stat('/proc/self/ns/pid')).ino}-4194304-1-abcdef`)
  await mkdir(dead)
  await openFor({ mode: 'read-only', workspace })
  expect(existsSync(dead)).toBe(false)
})

test('credentials seem absent or are refused, even through a symlink, and nothing is left in their place', async () => {
  const workspace = await temporaryDirectory()
  const home = await temporaryDirectory()
  await mkdir(join(home, 'keys'))
  await writeFile(join(home, 'keys', 'id'), 'secret')
  await symlink('keys', join(home, '.ssh'))
  await writeFile(join(home, '.netrc'), 'secret')
  const deniedReads = ['.ssh', '.netrc', '.absent'].map((name) => join(home, name))
  const sandbox = await openFor({ mode: 'workspace-write', workspace, writableRoots: [home], deniedReads })
  for (const path of ['.ssh/id', 'keys/id', '.netrc', '../../proc/self/root/.netrc']) {
    expect((await run(sandbox, `cat ${home}/${path}`)).stdout).toBe('')
  }
  expect((await run(sandbox, `cat ${home}/.netrc`)).stderr).toContain('Permission denied')
  expect((await run(sandbox, `ls -A ${home}/.ssh/`)).stdout).toBe('')
  expect(codeOf(await run(sandbox, `mv ${home}/.netrc ${home}/moved || mv ${home}/keys ${home}/moved`))).not.toBe(0)
  expect((await readdir(home)).toSorted()).toEqual(['.netrc', '.ssh', 'keys'])
  expect(await readFile(join(home, 'keys', 'id'), 'utf8')).toBe('secret')
})

test('a root granted below a denied place is visible, but its neighbours are not', async () => {
  const home = await temporaryDirectory()
  await mkdir(join(home, 'denied', 'project'), { recursive: true })
  await writeFile(join(home, 'denied', 'secret'), 'secret')
  const workspace = join(home, 'denied', 'project')
  const sandbox = await openFor({ mode: 'workspace-write', workspace, deniedReads: [join(home, 'denied')] })
  expect((await run(sandbox, 'ls -A ..; touch here; touch ../there')).stdout).toBe('project\n')
  expect((await readdir(join(home, 'denied'))).toSorted()).toEqual(['project', 'secret'])
  expect(await readdir(workspace)).toEqual(['here'])
})

test("variables that look like secrets don't reach a command, its parent or its children", async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'read-only', workspace, environment: { inherit: 'all' } })
  process.env['PROBE_API_TOKEN'] = 'hunter2'
  try {
    const look = "env; sh -c env; for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f; done; cat /proc/*/cmdline"
    expect((await run(sandbox, look)).stdout).not.toContain('hunter2')
  } finally {
    delete process.env['PROBE_API_TOKEN']
  }
})

// Without control groups, an additional shell inside the sandbox limits the number of an ordinary user's processes, and the dynamic loader complains
// about the missing library for this shell too.
testUnless(process.geteuid?.() === 0 ? undefined : whyNoControlGroups(), test)(
  'a preloaded library is loaded inside only',
  async () => {
    const workspace = await temporaryDirectory()
    const sandbox = await openFor({ mode: 'read-only', workspace, environment: { set: { LD_PRELOAD: '/absent.so' } } })
    // The loader complains once for each program for which it has to preload the library: for the shell, but not for bwrap.
    expect((await run(sandbox, ':')).stderr.match(/absent\.so/g)).toHaveLength(1)
  },
)

test('protected paths are read-only if they exist, and absent ones stay absent', async () => {
  const workspace = await temporaryDirectory()
  spawnSync('git', ['init', '-q', workspace])
  await mkdir(join(workspace, '.claude'))
  await writeFile(join(workspace, '.mcp.json'), '{}')
  const before = (await readdir(workspace)).toSorted()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  for (const attempt of [
    'echo x > .claude/settings.json',
    'echo x >> .mcp.json',
    'mv .claude other',
    'rm -f .mcp.json',
    'mv .git other',
  ]) {
    expect(codeOf(await run(sandbox, attempt)), attempt).not.toBe(0)
  }
  expect((await readdir(workspace)).toSorted()).toEqual(before)
})

test('a commit in a plain repository works, and leaves nothing but the commit', async () => {
  const workspace = await temporaryDirectory()
  spawnSync('git', ['init', '-q', workspace])
  const sandbox = await openFor({ mode: 'workspace-write', ...(await asView(workspace)) })
  const commit =
    'echo a > a && git add -A && git -c user.name=a -c user.email=a@b commit -qm first && git status --porcelain'
  expect(await run(sandbox, commit)).toMatchObject({ stdout: '', stderr: '', result: { status: 'exited', code: 0 } })
  expect(spawnSync('git', ['-C', workspace, 'log', '--format=%s'], { encoding: 'utf8' }).stdout).toBe('first\n')
})

test('without a view, a commit is refused, with the reason', async () => {
  const workspace = await temporaryDirectory()
  initialise(workspace)
  const { result } = await run(await openFor({ mode: 'workspace-write', workspace }), 'echo b > b; git add b')
  expect(result).toMatchObject({
    code: 128,
    denials: [{ kind: 'path', rule: expect.stringContaining('read-only for it without a view') }],
  })
  expect(git(workspace, 'status', '--porcelain')).toBe('?? b')
})

test('there is no network unless the policy grants it', async () => {
  const workspace = await temporaryDirectory()
  const devices = 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "'
  const off = await openFor({ mode: 'read-only', workspace })
  expect((await run(off, devices)).stdout).toBe('lo\n')
  const full = await openFor({ mode: 'read-only', workspace, network: { mode: 'full' } })
  const host = spawnSync('sh', ['-c', devices], { encoding: 'utf8' }).stdout
  expect((await run(full, devices)).stdout).toBe(host)
})

test('a run as root is not root inside', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  expect((await run(sandbox, 'id -u')).stdout).not.toBe('0\n')
  expect((await run(sandbox, 'grep -E "^(Cap|NoNewPrivs)" /proc/self/status')).stdout).toMatch(
    /^(?:Cap\w+:\t0{16}\n){5}NoNewPrivs:\t1\n$/,
  )
  for (const file of ['kernel/hostname', 'kernel/core_pattern', 'vm/drop_caches']) {
    expect(codeOf(await run(sandbox, `exec 3>>/proc/sys/${file}`)), file).not.toBe(0)
  }
  expect(codeOf(await run(sandbox, 'mknod null c 1 3'))).not.toBe(0)
  expect(codeOf(await run(sandbox, 'cat /etc/shadow'))).not.toBe(0)
})

test('a missing directory or program is an error that names it, before anything starts', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'read-only', workspace })
  expect(() => sandbox.spawn({ argv: ['true'], cwd: '/absent' })).toThrow(/working directory \/absent/)
  expect(() => sandbox.spawn({ argv: ['no-such-program'], cwd: workspace })).toThrow(
    /no executable named no-such-program/,
  )
  expect(() => sandbox.spawn({ argv: ['./no-such-program'], cwd: workspace })).toThrow(/not an executable file/)
  await expect(openSandbox(parsePolicy({ mode: 'read-only', workspace: '/absent' }))).rejects.toThrow(
    /workspace \/absent/,
  )
})

test('sixty-four commands at once in one directory all work', async () => {
  const workspace = await temporaryDirectory()
  const sandbox = await openFor({ mode: 'workspace-write', workspace })
  const numbers = Array.from({ length: 64 }, (_, index) => index)
  const ran = await Promise.all(numbers.map((number) => run(sandbox, `echo ${number} > f${number}; cat f${number}`)))
  expect(ran.map(({ stdout }) => stdout)).toEqual(numbers.map((number) => `${number}\n`))
})
