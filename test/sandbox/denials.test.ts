import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect, test as plain } from 'vitest'
import { denialsFromOutput } from '../../sandbox/denials/from-output.ts'
import { evaluateAccess } from '../../sandbox/denials/evaluate-access.ts'
import { describeRemedy } from '../../sandbox/denials/denial-remedy.ts'
import { hostFileSystem } from '../../sandbox/file-system-view.ts'
import { parsePolicy, renderDenial, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { testUnless, whyNotRoot } from '../support/needs.ts'
import { openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

async function tree() {
  const home = await temporaryDirectory()
  const workspace = join(home, 'workspace')
  await mkdir(join(workspace, 'sub'), { recursive: true })
  await mkdir(join(home, '.ssh'))
  await writeFile(join(home, '.ssh/id'), 'secret')
  await symlink('../.ssh', join(workspace, 'link'))
  const policy = (more: Partial<SandboxPolicyInput> = {}) =>
    parsePolicy({
      mode: 'workspace-write',
      workspace,
      deniedReads: [join(home, '.ssh')],
      // Node may be installed in a place that is private in the sandbox, such as /tmp.
      readableRoots: [home, dirname(process.execPath)],
      ...more,
    })
  return { home, workspace, policy }
}

plain('the evaluator: who may read and write what, and by which rule', async () => {
  const { home, workspace, policy } = await tree()
  const judge = (want: 'read' | 'write', path: string, more?: Partial<SandboxPolicyInput>): string => {
    const verdict = evaluateAccess(policy(more), { path, want }, hostFileSystem)
    return verdict.allowed ? 'allowed' : verdict.rule.replace(/:.*/, '')
  }
  expect(judge('read', '/etc/hostname')).toBe('allowed')
  expect(judge('read', join(home, '.ssh/id'))).toBe('deniedReads')
  expect(judge('read', join(workspace, 'link/id'))).toBe('deniedReads')
  expect(judge('read', join(home, '.sshx'))).toBe('allowed')
  expect(judge('read', '/run/docker.sock')).toBe("the host's /tmp and /run are hidden from commands")
  expect(judge('write', join(workspace, 'sub/new/file'))).toBe('allowed')
  expect(judge('write', join(workspace, 'sub/.git/hooks/pre-commit'))).toBe('git metadata that the host would execute')
  expect(judge('write', join(workspace, '.claude/settings.json'))).toBe('protectedPaths')
  expect(judge('write', `${workspace}-evil/file`)).toBe('outside the writable roots'.replace(/:.*/, ''))
  expect(judge('write', join(workspace, 'file'), { mode: 'read-only' })).toBe('mode')
  expect(judge('write', '/etc/passwd', { mode: 'danger-full-access' })).toBe('allowed')
})

plain('an error message without a refused path is only a suspicion', async () => {
  const { workspace, policy } = await tree()
  const from = (stderr: string) =>
    denialsFromOutput(policy(), { stderr, cwd: workspace, code: 1 }, hostFileSystem).map(({ certainty }) => certainty)
  expect(from('permission denied')).toEqual([])
  expect(from(`cat: ${workspace}/file: Permission denied`)).toEqual([])
  expect(from('sandbox: read-only file system, seccomp, landlock')).toEqual([])
  expect(from('unshare: Operation not permitted')).toEqual(['suspected'])
})

// If a file's mode already refuses the access, the sandbox is not the cause.
const testWhereAllowed = testUnless(whyNotRoot('may write to /usr outside a sandbox'), testInBubblewrap)

testWhereAllowed.each([
  ['echo x > /usr/x', 'path', 'outside the writable roots', '/usr/x'],
  ['touch /usr/x', 'path', 'outside the writable roots', '/usr/x'],
  ['cp /etc/hostname /usr/x', 'path', 'outside the writable roots', '/usr/x'],
  ['cat ../.ssh/id', 'path', 'deniedReads', '.ssh/id'],
  [`"${process.execPath}" -e "fs.writeFileSync('/usr/x','')"`, 'path', 'outside the writable roots', '/usr/x'],
  ['git clone https://example.invalid/a.git', 'host', 'network: off', 'example.invalid'],
  [`"${process.execPath}" -e "http.get('http://example.invalid')"`, 'host', 'network: off', 'example.invalid'],
] as const)('%s is explained', async (script, kind, rule, subject) => {
  const { policy } = await tree()
  const ran = await run(await openFor(policy()), script)
  expect(ran.result.denials, ran.stderr).toHaveLength(1)
  const [denial] = ran.result.denials
  if (denial === undefined) return
  expect(denial).toMatchObject({ kind, certainty: 'suspected' })
  expect(denial.rule).toContain(rule)
  expect(denial.subject).toContain(subject)
  expect(renderDenial(denial)).toMatch(/^The sandbox may have refused .+\. To allow it: .+\.$/)
})

plain.each([
  ["touch: cannot touch 'f': Read-only file system", 'f'],
  ['mkdir: cannot create directory ‘a b’: Read-only file system', 'a b'],
  ['/usr/bin/sh: 1: cannot create f: Read-only file system', 'f'],
  ['/usr/bin/bash: line 1: f: Read-only file system', 'f'],
  ['zsh:1: read-only file system: f', 'f'],
  ['tar: f: Cannot open: Read-only file system', 'f'],
  ['error: could not lock config file .git/config: Read-only file system', '.git/config'],
  ["Error: EROFS: read-only file system, open 'f'", 'f'],
  ["OSError: [Errno 30] Read-only file system: 'f'", 'f'],
  ['panic: open f: read-only file system', 'f'],
  ["Can't open f: Read-only file system at make.pl line 3.", 'f'],
])('%s names one path', async (message, path) => {
  const { workspace, policy } = await tree()
  const readOnly = policy({ mode: 'read-only' })
  const denials = denialsFromOutput(readOnly, { stderr: message, cwd: workspace, code: 1 }, hostFileSystem)
  expect(denials.map(({ subject }) => subject)).toEqual([join(workspace, path)])
})

testWhereAllowed(
  'what a command that succeeds was refused is a suspicion, since it may have been quoting',
  async () => {
    const { policy } = await tree()
    const sandbox = await openFor(policy())
    for (const script of ['touch /usr/x || true', 'echo "cat: /usr/x: Read-only file system" >&2']) {
      const { result } = await run(sandbox, script)
      expect(result).toMatchObject({ code: 0, denials: [{ kind: 'path', subject: '/usr/x', certainty: 'suspected' }] })
    }
  },
)

testInBubblewrap.each([
  `echo "cat: $HOME/.ssh/id: Permission denied" >&2; exit 1`,
  `echo 'touch: cannot touch '"'/etc/cron.d/x'"': Read-only file system' >&2; exit 1`,
  `echo 'curl: (6) Could not resolve host: evil.test' >&2; exit 6`,
])('what a command only prints proves nothing: %s', async (script) => {
  const { policy } = await tree()
  const { result } = await run(await openFor(policy()), script)
  expect(result.denials.filter(({ certainty }) => certainty === 'proven')).toEqual([])
})

testWhereAllowed('a command that was ended also has its denials', async () => {
  const { policy } = await tree()
  const { result } = await run(await openFor(policy()), 'touch /usr/x; sleep 600', { timeoutMs: 500 })
  expect(result.denials.map(({ rule }) => rule)).toEqual(['limits.wallTimeMs', 'outside the writable roots'])
})

testInBubblewrap('a command that fails by itself has no denials', async () => {
  const { policy } = await tree()
  const sandbox = await openFor(policy())
  expect((await run(sandbox, 'cat absent')).result.denials).toEqual([])
  expect((await run(sandbox, 'cat ~/.ssh/neither-here-nor-outside')).result.denials).toEqual([])
  expect((await run(sandbox, 'exit 3')).result.denials).toEqual([])
})

plain('the advice allows no more than what was attempted', async () => {
  const { home, workspace, policy } = await tree()
  await mkdir(join(home, 'other'))
  await writeFile(join(home, 'other/file'), '')
  const advice = (path: string, mode: SandboxPolicyInput['mode'] = 'workspace-write') => {
    const verdict = evaluateAccess(policy({ mode }), { path, want: 'write' }, hostFileSystem)
    return verdict.allowed ? 'allowed' : describeRemedy(verdict.remedy)
  }
  expect(advice(join(home, 'other'))).toBe(`add ${home}/other to writableRoots`)
  expect(advice(join(home, 'other/file'))).toBe(`add ${home}/other/file to writableRoots`)
  expect(advice(join(home, '.rustup'))).toBe(`make ${home}/.rustup yourself, then add ${home}/.rustup to writableRoots`)
  expect(advice('/proc/sys/vm/x')).toBe('change it yourself: no sandbox allows this')
  expect(advice(join(workspace, 'x'), 'read-only')).toBe('use workspace-write mode')
  expect(advice('/usr/x', 'read-only')).toBe('use workspace-write mode, and make /usr/x a writable root')
})

testInBubblewrap('a file can be a writable root, which covers only that file', async () => {
  const { home, workspace } = await tree()
  await mkdir(join(home, 'other'))
  await writeFile(join(home, 'other/file'), '')
  await writeFile(join(home, 'other/neighbour'), '')
  const sandbox = await openFor({
    mode: 'workspace-write',
    workspace,
    readableRoots: [home],
    writableRoots: [join(home, 'other/file')],
  })
  const { stdout } = await run(
    sandbox,
    'echo x > ../other/file && echo wrote; echo x > ../other/neighbour || echo refused',
  )
  expect(stdout).toBe('wrote\nrefused\n')
})

plain('showing a path does not expose a docker socket, and the remedy says what exposing it would mean', () => {
  const policy = parsePolicy({ mode: 'workspace-write', workspace: '/w' })
  const verdict = evaluateAccess(policy, { path: '/run/docker.sock', want: 'read' }, hostFileSystem)
  expect(verdict).toMatchObject({ allowed: false, remedy: { kind: 'show-docker-socket' } })
  expect(!verdict.allowed && describeRemedy(verdict.remedy)).toContain('gives commands root access')
})
