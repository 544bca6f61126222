import process from 'node:process'
import { expect, test } from 'vitest'
import { doctor, openSandbox, parsePolicy, SandboxError, type SandboxPolicyInput } from '../../../sandbox/index.ts'
import { commandEnvironment } from '../../../sandbox/environment.ts'
import { sandboxExecArguments } from '../../../sandbox/seatbelt/command-line.ts'
import { diagnoseSeatbelt } from '../../../sandbox/seatbelt/diagnose-seatbelt.ts'
import { refuseUnenforceable } from '../../../sandbox/seatbelt/refuse.ts'
import { pidsMarked } from '../../../sandbox/seatbelt/kill-orphans.ts'
import { temporaryDirectory, openFor, run } from '../helpers.ts'

const least = { mode: 'read-only', workspace: '/w' } as const
const mac = { platform: 'darwin', root: false } as const

test.each([
  ['another system', least, { ...mac, platform: 'linux' }, /part of macOS, but this is linux/],
  ['root, who would stay root', least, { ...mac, root: true }, /root keeps rights/],
  ['no confinement', { ...least, mode: 'danger-full-access' }, mac, /requests no confinement/],
  ['a limit on processes that was asked for', { ...least, limits: { processes: 64 } }, mac, /limits\.processes/],
  ['a limit on memory that was asked for', { ...least, limits: { memoryBytes: 2 ** 28 } }, mac, /limits\.memoryBytes/],
] satisfies readonly (readonly [string, SandboxPolicyInput, Parameters<typeof refuseUnenforceable>[1], RegExp])[])(
  'what Seatbelt can not enforce is refused with a remedy: %s',
  (_, input, caller, reason) => {
    try {
      refuseUnenforceable(parsePolicy(input), caller)
    } catch (error) {
      if (!SandboxError.is(error, 'unavailable')) throw error
      expect(error.data.reason).toMatch(reason)
      expect(error.data.remedy).toMatch(/[Rr]un|[Uu]se|[Cc]hoose|[Ll]eave/)
      return
    }
    throw new Error('it was accepted')
  },
)

test('limits that macOS can enforce are accepted', () => {
  const limits = { wallTimeMs: 1000, outputBytes: 1000, fileSizeBytes: 1000, openFiles: 64 }
  expect(() => refuseUnenforceable(parsePolicy({ ...least, limits }), mac)).not.toThrow()
})

test.runIf(process.platform !== 'darwin')('outside macOS the backend refuses, and the doctor says so', async () => {
  const workspace = await temporaryDirectory()
  await expect(openSandbox(parsePolicy({ mode: 'read-only', workspace }), { backend: 'seatbelt' })).rejects.toThrow(
    /seatbelt sandbox can't be used: sandbox-exec is part of macOS/,
  )
  const { backends } = await doctor()
  expect(backends.find(({ backend }) => backend === 'seatbelt')).toMatchObject({ usable: false })
})

test('each parameter is one argument, and the command follows a double dash', () => {
  const profile = { text: '(version 1)', parameters: { WRITABLE_0: '/a=b c', DENIED_0: '/d' } }
  expect(sandboxExecArguments(profile, ['/bin/sh', '-p'])).toEqual([
    ...['-D', 'WRITABLE_0=/a=b c', '-D', 'DENIED_0=/d', '-p', '(version 1)', '--', '/bin/sh', '-p'],
  ])
})

test('an outer sandbox, a rejected profile, and a command that merely prints such words are distinguished', () => {
  const nested = 'sandbox-exec: sandbox_apply: Operation not permitted\n'
  expect(diagnoseSeatbelt(71, nested)?.reason).toMatch(/inside another Seatbelt sandbox/)
  expect(diagnoseSeatbelt(65, 'sandbox-exec: unbound variable: file-clone\n')?.reason).toMatch(/rejects the profile/)
  expect(diagnoseSeatbelt(1, nested)).toBeUndefined()
  expect(diagnoseSeatbelt(71, 'sendmail: EX_OSERR\n')).toBeUndefined()
})

test('orphans are recognized only by their complete mark', () => {
  const listing = [
    '  101 sleep 9 PATH=/bin PORTCULLIS_COMMAND=abc HOME=/Users/me',
    '  102 node x.js PORTCULLIS_COMMAND=abc',
    '  103 node x.js PORTCULLIS_COMMAND=abcd',
    '  104 vim',
    '    1 launchd PORTCULLIS_COMMAND=abc',
  ].join('\n')
  expect(pidsMarked(listing, 'abc')).toEqual([101, 102])
})

test('every variable that names a temporary directory names the private one', () => {
  const { variables } = commandEnvironment(parsePolicy(least), {}, { cwd: '/w' }, '/private/var/run-of-ours/tmp')
  const named = Object.entries(variables).filter(([name]) => /^(?:TE?MP|TMP|XDG_CACHE|npm_config_cache)/.test(name))
  expect(named).toHaveLength(6)
  for (const [, value] of named) expect(value).toMatch(/^\/private\/var\/run-of-ours\/tmp/)
})

test.runIf(process.platform === 'darwin')(
  'on macOS, live: the workspace is written to, its surroundings are not',
  async () => {
    const [workspace, outside] = [await temporaryDirectory(), await temporaryDirectory()]
    const sandbox = await openFor({ mode: 'workspace-write', workspace }, 'seatbelt')
    expect((await run(sandbox, 'echo made > file && cat file && echo x > "$TMPDIR/x"')).stdout).toBe('made\n')
    expect((await run(sandbox, `echo no > ${outside}/file; mkdir .claude; cat ${outside}/file`)).stdout).toBe('')
  },
)
