import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openAuditLog } from '../../../policies/index.ts'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'

const rules = 'prefix_rule(pattern = ["make", "deploy"], decision = "forbidden", justification = "Ask a person.")\n'

describe('agent policy check', () => {
  test('prints decision, class, the commands found and the deciding rule as one JSON object', async () => {
    const home = tempDir({ '.config/portcullis/rules/team.rules': rules })
    const args = ['policy', 'check', '--json', '--', 'cd app && env A=1 make deploy']
    const { code, stdout } = await agent(args, { cwd: tempDir(), home })
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      command: 'cd app && env A=1 make deploy',
      decision: 'deny',
      class: expect.any(String),
      commands: expect.arrayContaining([expect.objectContaining({ command: 'make deploy' })]),
      reason: 'Ask a person.',
      rule: expect.stringContaining('team.rules:1'),
    })
  })

  test('accepts an argument vector with its own flags', async () => {
    const args = ['policy', 'check', '--ask-for-approval', 'untrusted', '--json', '--', 'ls', '--all']
    const { stdout } = await agent(args, { cwd: tempDir(), home: tempDir() })
    expect(JSON.parse(stdout)).toMatchObject({ command: 'ls --all', decision: 'allow', class: 'read-only' })
  })

  test('judges under the mode and the sandbox of a run with this configuration', async () => {
    const home = tempDir({ '.config/portcullis/config.toml': 'approval_policy = "untrusted"\n' })
    const { stdout } = await agent(['policy', 'check', '--json', '--', 'touch x'], { cwd: tempDir(), home })
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'ask' })
    const broken = tempDir({ '.config/portcullis/config.toml': 'approval_policy = "sometimes"\n' })
    expect(await agent(['policy', 'check', '--', 'ls'], { cwd: tempDir(), home: broken })).toMatchObject({ code: 2 })
  })

  test.each([
    ['ls', [], 0],
    ['touch x', [], 1],
    ['rm -rf ~', [], 3],
    ['rm -rf ~', ['--exit-zero'], 0],
  ])('of %j with %j exits with %i', async (command, flags, code) => {
    const args = ['policy', 'check', '--ask-for-approval', 'untrusted', ...flags, '--', command]
    expect(await agent(args, { cwd: tempDir(), home: tempDir() })).toMatchObject({ code })
  })

  test('of a list exits with the code of the strictest decision, and of a broken list with 2', async () => {
    const cwd = tempDir({ 'list.txt': 'rm -rf ~\ntouch x\nls\n', 'broken.jsonl': '{"command": 1}\n' })
    const check = async (file: string): Promise<number | null> =>
      (await agent(['policy', 'check', '--ask-for-approval', 'untrusted', '--from', file], { cwd, home: tempDir() }))
        .code
    expect([await check('list.txt'), await check('broken.jsonl')]).toEqual([3, 2])
  })

  test('says once that the allow list of another program does not count, and how to make it count', async () => {
    const home = tempDir({ '.claude/settings.json': '{"permissions":{"allow":["Bash(make)","Bash(npm test)"]}}' })
    const { stderr } = await agent(['policy', 'check', '--', 'make'], { cwd: tempDir(), home })
    const lines = stderr.split('\n').filter((line) => line.includes('import = ["claude"]'))
    expect(lines).toEqual([expect.stringContaining(`${home}/.claude/settings.json`)])
    expect(lines[0]).toContain('Bash(make)')
  })

  test('--from judges a file, one line each, in order', async () => {
    const cwd = tempDir({ 'commands.txt': 'ls\n"rm -rf build"\n{"command": "curl https://example.com"}\n' })
    const args = ['policy', 'check', '--ask-for-approval', 'untrusted', '--from', 'commands.txt', '--json']
    const { stdout } = await agent(args, { cwd, home: tempDir() })
    const decisions = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { decision: string }).decision)
    expect(decisions).toEqual(['allow', 'ask', 'ask'])
  })

  test('--rules adds a file, and a broken one stops it with file, line and column', async () => {
    const cwd = tempDir({ 'more.rules': rules, 'broken.rules': 'prefix_rule(pattern = "make")\n' })
    const home = tempDir()
    const good = await agent(['policy', 'check', '--rules', 'more.rules', '--json', '--', 'make deploy'], { cwd, home })
    expect(JSON.parse(good.stdout)).toMatchObject({ decision: 'deny' })
    const bad = await agent(['policy', 'check', '--rules', 'broken.rules', '--', 'make deploy'], { cwd, home })
    expect(bad).toMatchObject({ code: 2, stdout: '' })
    expect(bad.stderr).toMatch(/^agent: broken\.rules:1:\d+: /)
  })

  test.each([[['policy', 'check']], [['policy', 'check', '--from', 'a', '--', 'ls']], [['policy']]])(
    '%j is a usage error',
    async (args) => {
      expect(await agent(args, { cwd: tempDir(), home: tempDir() })).toMatchObject({ code: 2, stdout: '' })
    },
  )
})

test('agent policy explain says in words what would happen and why', async () => {
  const { code, stdout } = await agent(['policy', 'explain', '--', 'git push --force'], {
    cwd: tempDir(),
    home: tempDir(),
  })
  expect(code).toBe(0)
  expect(stdout).toContain('would need approval')
  expect(stdout).toContain("This overwrites or deletes other people's work.")
})

test('agent policy test compares a table with the decisions, and fails if they differ', async () => {
  const cwd = tempDir({
    'good.jsonl': '{"command": "ls", "label": "safe"}\n{"command": "rm -rf x", "label": "unsafe"}\n',
    'bad.jsonl': '{"command": "ls", "expect": "deny"}\n',
  })
  const args = ['policy', 'test', '--ask-for-approval', 'untrusted']
  expect(await agent([...args, 'good.jsonl'], { cwd, home: tempDir() })).toMatchObject({
    code: 0,
    stdout: '2 as expected, 0 not\n',
  })
  const bad = await agent([...args, 'bad.jsonl'], { cwd, home: tempDir() })
  expect(bad.code).toBe(1)
  expect(bad.stdout).toContain('bad.jsonl:1: ls\n  allow, expected deny')
})

describe('agent audit verify', () => {
  const log = (): string => {
    const path = join(tempDir(), 'audit.jsonl')
    const audit = openAuditLog(path, { environment: {} })
    for (const name of ['a', 'b', 'c']) {
      audit.append({
        action: { type: 'read', path: `/${name}` },
        mode: 'never',
        verdict: { decision: 'deny', sandbox: 'as-requested', decidedBy: 'mode', reason: 'no' },
        analysis: undefined,
        took: 1,
      })
    }
    audit.close()
    return path
  }

  test('says that an intact log is intact', async () => {
    const path = log()
    const ended = await agent(['audit', 'verify', path], { cwd: tempDir(), home: tempDir() })
    expect(ended).toMatchObject({ code: 0, stdout: `${path}: 3 records, intact\n` })
  })

  test.each<readonly [string, (text: string) => string]>([
    ['an edited record', (text) => text.replace('"/b"', '"/x"')],
    ['a removed record', (text) => text.split('\n').toSpliced(1, 1).join('\n')],
    ['a cut end', (text) => text.split('\n').toSpliced(2, 1).join('\n')],
  ])('finds %s, with its line', async (_, change) => {
    const path = log()
    writeFileSync(path, change(readFileSync(path, 'utf8')))
    const ended = await agent(['audit', 'verify', path], { cwd: tempDir(), home: tempDir() })
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/audit\.jsonl:\d: /)
  })

  test('a missing log is a usage error', async () => {
    const ended = await agent(['audit', 'verify', '/no/such/log'], { cwd: tempDir(), home: tempDir() })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
  })
})

test('agent policy names a rule without effect on standard error, and continues', async () => {
  const home = tempDir({
    '.config/portcullis/rules/team.rules': 'prefix_rule(pattern = ["git push"], decision = "forbidden")\n',
    '.claude/settings.json': '{"permissions":{"deny":["Bash(a && b)"]}}',
  })
  const { code, stdout, stderr } = await agent(['policy', 'check', '--json', '--', 'ls'], { cwd: tempDir(), home })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ decision: 'allow' })
  expect(stderr).toContain(
    `warning: ${home}/.config/portcullis/rules/team.rules:1: git push: no program's name contains white space`,
  )
  expect(stderr).toContain('settings.json:1: a && b: ')
})

describe('agent policy test', () => {
  test.each([
    ['', /contains no commands, so nothing was tested/],
    ['# nothing\n', /contains no commands/],
    ['ls\n{"command": "pwd"}\n', /has no expected decision for any command/],
    ['{"command": "ls", "expct": "allow"}\n', /:1:1: this has an unknown key: expct/],
    ['{"command": "ls", "expect": "allowed"}\n', /:1:1: this is not a command/],
  ])('of a table that tests nothing fails and says so: %j', async (text, message) => {
    const cwd = tempDir({ 'table.jsonl': text })
    const { code, stdout, stderr } = await agent(['policy', 'test', 'table.jsonl'], { cwd, home: tempDir() })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
  })
})
