import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { agent, type Ended } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec } from '../../support/workspace.ts'

const own = 'prefix_rule(pattern = ["make", "deploy"], decision = "forbidden", justification = "Ask a person.")\n'
const patch = (file: string): string => `*** Begin Patch\n*** Add File: ${file}\n+text\n*** End Patch`

let home = ''
let cwd = ''

const sessionsDir = (): string => join(home, '.local/state/portcullis/sessions')
const replay = (...args: readonly string[]): Promise<Ended> => agent(['policy', 'replay', ...args], { cwd, home })

/** Creates a folder with these files for all tests of this file. */
function folder(files: Readonly<Record<string, string>>): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'portcullis-policy-replay-')))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  return directory
}

afterAll(() => {
  for (const directory of [home, cwd].filter((path) => path !== '')) rmSync(directory, { recursive: true })
})

/**
 * Before the first test, creates two sessions with verdicts of many kinds: calls that are allowed, and calls that are refused because of a rule, a
 * permission, a hook, the mode, a protected path, or a link.
 */
beforeEach(async () => {
  if (needsBubblewrap() || home !== '') return
  home = folder({
    '.config/portcullis/rules/own.rules': own,
    '.config/portcullis/permissions.json': JSON.stringify({ permissions: { deny: ['Read(./secrets/**)'] } }),
    '.config/portcullis/hooks.json': JSON.stringify({
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'grep -q blocked && exit 2; exit 0' }] }],
      },
    }),
  })
  cwd = folder({ 'a.txt': 'text\n', 'secrets/key': 'text\n' })
  execFileSync('git', ['init', '--quiet', cwd])
  const cmd = (line: string): ReturnType<typeof call> => call('exec_command', { cmd: line })
  const turns = [
    [cmd('cat a.txt')],
    [cmd('make deploy')],
    [cmd('sudo ls')],
    [cmd('touch b && ln -s secrets link')],
    [call('read_file', { path: 'secrets/key' })],
    [call('read_file', { path: 'link/key' })],
    [call('apply_patch', { input: patch('c.txt') })],
    [call('apply_patch', { input: patch('.git/hooks/pre-commit') })],
    [call('exec_command', { cmd: 'npm publish', sandbox_permissions: 'require_escalated', justification: 'needs it' })],
    [cmd('echo blocked')],
    [say('done')],
  ]
  await exec(turns, ['--in-place', 'go'], { cwd, home })
  await exec(turns, ['--ask-for-approval', 'untrusted', '-s', 'read-only', 'go'], { cwd, home })
}, 60_000)

describe.skipIf(needsBubblewrap())('agent policy replay', () => {
  test('with unchanged rules the decisions equal the audit logs, even if the trees have changed since', async () => {
    const away = join(cwd, 'link')
    rmSync(away, { force: true })
    const { code, stdout, stderr } = await replay('--all', '--json')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const logs = readdirSync(sessionsDir()).map((id) => readFileSync(join(sessionsDir(), id, 'audit.jsonl'), 'utf8'))
    const decided = logs.flatMap((log) => log.trimEnd().split('\n')).map((line) => JSON.parse(line) as Recorded)
    const stages = new Set(decided.map(({ verdict }) => `${verdict.decision} ${verdict.decidedBy}`))
    for (const stage of [
      'allow analysis',
      'allow mode',
      'deny rules',
      'deny permissions',
      'deny hook',
      'deny reviewer:nobody',
    ])
      expect(stages).toContain(stage)
    expect(JSON.parse(stdout)).toEqual({
      type: 'summary',
      sessions: 2,
      actions: decided.length,
      unchanged: decided.length,
      changed: 0,
      decided_by_something_else: 0,
      without_basis: 0,
      groups: [],
      unreadable: 0,
    })
  })

  test('with other rules, decisions that become an allow are shown with examples, and the exit code is 1', async () => {
    const rules = tempDir({ 'new.rules': 'prefix_rule(pattern = ["cat"], decision = "prompt")\n' })
    const { code, stdout } = await replay('--all', '--rules', rules)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^\d+ actions of 2 sessions judged again: \d+ decided as before, 4 differently\n/)
    expect(stdout).toMatch(
      /\ndeny → allow {2}1 in 1 session {2}no longer .*own\.rules:1 forbidden make deploy\n {2}make deploy\n/,
    )
    expect(stdout).toMatch(/\nallow → ask {2}1 in 1 session {2}.*new\.rules:1 prompt cat\n {2}cat a\.txt\n/)
    expect(stdout).toContain('then deny by rules: Ask a person.')
    expect(stdout).toContain('1 would now be allowed')
    expect((await replay('--all', '--rules', rules, '--fail-on', 'none')).code).toBe(0)
  })

  test('stricter rules give exit code 0, or 1 if any change counts', async () => {
    const rules = tempDir({ 'new.rules': `${own}prefix_rule(pattern = ["touch"], decision = "forbidden")\n` })
    const { code, stdout } = await replay('--all', '--rules', join(rules, 'new.rules'), '--json')
    expect(code).toBe(0)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.at(0)).toMatchObject({
      type: 'change',
      kind: 'exec',
      action: 'touch b && ln -s secrets link',
      before: { decision: 'allow', decided_by: 'analysis' },
      after: { decision: 'deny', decided_by: 'rules', rule: expect.stringContaining('new.rules:2') },
    })
    expect(lines.at(-1)).toMatchObject({ type: 'summary', changed: 1 })
    expect((await replay('--all', '--rules', rules, '--fail-on', 'any')).code).toBe(1)
  })

  test('another mode, sandbox or permission list can be used for judging', async () => {
    const [first = ''] = readdirSync(sessionsDir())
    const asking = await replay(first, '--ask-for-approval', 'untrusted')
    expect(asking.code).toBe(0)
    expect(asking.stdout).toMatch(/\nallow → ask/)
    const configured = await replay(first, '-c', 'approval_policy=untrusted')
    expect(configured.stdout).toBe(asking.stdout)
    expect((await replay(first, '-s', 'read-only')).stdout).toMatch(/\nallow → (?:deny|ask)/)
    const lists = tempDir({ 'lists.json': '{"permissions": {}}' })
    const opened = await replay('--all', '--permissions', join(lists, 'lists.json'))
    expect(opened.stdout).toMatch(
      /\ndeny → allow {2}\d in 2 sessions {2}no longer .* forbidden Read\(\.\/secrets\/\*\*\)/,
    )
    expect(opened.code).toBe(1)
  })

  test('sessions from another machine are judged by this machine’s and user’s rules, and a note says so', async () => {
    const copied = tempDir()
    cpSync(sessionsDir(), join(copied, 'shard-1/sessions'), { recursive: true })
    for (const id of readdirSync(join(copied, 'shard-1/sessions'))) {
      const rollout = join(copied, 'shard-1/sessions', id, 'rollout.jsonl')
      writeFileSync(rollout, readFileSync(rollout, 'utf8').replaceAll(cwd, '/not/here'))
    }
    const { stdout, stderr } = await replay(copied, '--fail-on', 'none')
    expect(stdout).toMatch(/^\d+ actions of 2 sessions judged again/)
    expect(stderr).toContain('/not/here is not on this machine')
  })

  test('a changed log is reported, and an unreadable one is left out', async () => {
    const copied = tempDir()
    cpSync(sessionsDir(), copied, { recursive: true })
    const [one = '', other = ''] = readdirSync(copied).map((id) => join(copied, id, 'audit.jsonl'))
    writeFileSync(one, readFileSync(one, 'utf8').replace('cat a.txt', 'cat b.txt'))
    writeFileSync(other, 'nonsense\n')
    const { stdout, stderr } = await replay(copied)
    expect(stderr).toContain('agent audit verify')
    expect(stderr).toContain('line 1 is not a record of an audit log; its session is left out')
    expect(stdout).toMatch(/of 1 session judged again/)
  })

  test.each([
    [[], /name sessions or folders of sessions, or give --all/],
    [['nothing-of-the-kind'], /There is no session/],
    [['--all', '--rules', 'not-there'], /--rules not-there: there is no such file or folder/],
  ])('what can’t be judged is a usage error: %j', async (args, message) => {
    const { code, stdout, stderr } = await replay(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('a folder without sessions and a broken rule file are errors that name the place', async () => {
    const empty = tempDir()
    mkdirSync(join(empty, 'inner'))
    expect((await replay(empty)).stderr).toContain('there is no session')
    expect((await replay('--all', '--rules', empty)).stderr).toContain('none of its files ends in .rules')
    const broken = tempDir({ 'x.rules': 'prefix_rule(\n' })
    expect((await replay('--all', '--rules', broken)).stderr).toMatch(/x\.rules:\d+:\d+: /)
  })
})

type Recorded = { readonly verdict: { readonly decision: string; readonly decidedBy: string } }
