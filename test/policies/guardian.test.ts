import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Action, Review } from '../../policies/action.ts'
import {
  AuditError,
  createGuardian,
  loadRules,
  nobody,
  openAuditLog,
  withoutAuditLog,
  type ApprovalMode,
  type GuardianOptions,
  type Reviewer,
} from '../../policies/index.ts'
import { parsePolicy, protectingPlace } from '../../sandbox/index.ts'
import { shellAction } from './decisions.ts'

const folder = mkdtempSync(join(tmpdir(), 'portcullis-guardian-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The sandbox policy that determines which files are protected, as it does in the engine. */
const confined = parsePolicy({ mode: 'workspace-write', workspace: '/repo' })
const protects = (path: string, roots: readonly string[]): string | undefined => protectingPlace(confined, path, roots)

function review(action: Action, options: Partial<GuardianOptions> = {}): Promise<Review> {
  const common = { approvalMode: 'never', reviewer: nobody, audit: withoutAuditLog(), protects } as const
  return createGuardian({ ...common, ...options }).review(action)
}

async function decision(action: Action, options: Partial<GuardianOptions> = {}): Promise<string> {
  return (await review(action, options)).verdict.decision
}

function patch(path: string, more: Partial<Extract<Action, { type: 'patch' }>> = {}): Action {
  return { type: 'patch', root: '/repo', sandbox: 'workspace-write', changes: [{ path, kind: 'update' }], ...more }
}

function reviewerThat(answer: Reviewer['review']): Reviewer {
  return { name: 'test', review: answer }
}

test('a command that the user typed needs no approval, but rules still forbid', async () => {
  const rules = loadRules([
    {
      path: 'team.rules',
      layer: 'user',
      text: 'prefix_rule(pattern = ["git", "push"], decision = "forbidden")\nprefix_rule(pattern = ["deploy"], decision = "prompt")',
    },
  ])
  const guardian = createGuardian({ approvalMode: 'untrusted', rules, reviewer: nobody, audit: withoutAuditLog() })
  const judge = async (line: string, byUser?: string) =>
    (await guardian.review(shellAction(line), byUser === undefined ? {} : { byUser })).verdict
  expect([(await judge('npm test')).decision, (await judge('deploy')).decision]).toEqual(['deny', 'deny'])
  expect(await judge('npm test', '--verify')).toMatchObject({ decision: 'allow', decidedBy: '--verify' })
  expect(await judge('deploy', '--verify')).toMatchObject({ decision: 'allow', decidedBy: '--verify' })
  expect(await judge('git push', '--verify')).toMatchObject({ decision: 'deny', decidedBy: 'rules' })
})

describe('headless, without any approval flag', () => {
  test.each(['ls', 'npm test', 'touch x', 'rm -rf build', 'some-unknown-tool --flag', 'git commit -m x'])(
    'a command within the sandbox runs: %s',
    async (line) => expect(await decision(shellAction(line))).toBe('allow'),
  )

  test('a command that requests more than the sandbox allows is denied, with the reason and what to do', async () => {
    const { verdict, approved } = await review({
      ...shellAction('npm publish'),
      escalation: { justification: 'needs the network' },
    })
    expect(approved).toBeUndefined()
    expect(verdict).toMatchObject({ decision: 'deny', decidedBy: 'reviewer:nobody' })
    expect(verdict.reason).toMatch(/needs the network.*Nobody is here to approve it.*sandbox/)
  })

  test('a patch inside the workspace is applied', async () => {
    expect(await decision(patch('/repo/src/a.ts'))).toBe('allow')
  })

  test.each([
    ['/repo-other/a.ts', 'a sibling that shares the prefix (CVE-2025-54794)'],
    ['/etc/passwd', 'somewhere else'],
    ['/repo/../x', 'the parent'],
    ['/repo/.git/hooks/pre-commit', 'git hooks'],
    ['/repo/packages/a/.git/config', 'a nested repository'],
    ['/repo/.GIT/config', 'other case (CVE-2025-59944)'],
    ['/repo/.git./config', 'a trailing dot'],
    ['/repo/.codex/config.toml', 'agent configuration'],
    ['/repo/.claude/settings.json', 'agent configuration that need not exist yet (CVE-2026-25725)'],
    ['/repo/.vscode/tasks.json', 'tasks an editor runs'],
    ['/repo/.mcp.json', 'servers a client starts'],
  ])('a patch of %s is denied: %s', async (path) => {
    expect(await decision(patch(path))).toBe('deny')
    expect(
      await decision(patch('/repo/ok', { changes: [{ path: '/repo/ok', kind: 'update', movedFrom: path }] })),
    ).toBe('deny')
  })

  test('one bad change denies the whole patch', async () => {
    const changes = ['/repo/a', '/elsewhere/b', '/repo/c'].map((path) => ({ path, kind: 'add' as const }))
    expect(await decision(patch('', { changes }))).toBe('deny')
  })

  test('a patch under a read-only sandbox is denied', async () => {
    expect(await decision(patch('/repo/a', { sandbox: 'read-only' }))).toBe('deny')
  })

  test('a patch in another writable root is applied', async () => {
    expect(await decision(patch('/other/a'), { writableRoots: ['/other'] })).toBe('allow')
  })

  test('reading credentials, reaching the network and calling a tool that may write are denied; reading is not', async () => {
    expect(await decision({ type: 'read', path: '/home/me/.aws/credentials' })).toBe('deny')
    expect(await decision({ type: 'read', path: '/repo/src/a.ts' })).toBe('allow')
    expect(await decision({ type: 'network', host: 'example.com', port: 443, protocol: 'https' })).toBe('deny')
    expect(await decision({ type: 'mcp', server: 's', tool: 't', arguments: {} })).toBe('deny')
    expect(await decision({ type: 'mcp', server: 's', tool: 't', arguments: {}, readOnlyHint: true })).toBe('allow')
  })

  test('a connection from inside the sandbox must follow its policy, and is asked about only in untrusted mode', async () => {
    const inside: Action = { type: 'network', host: 'example.com', port: 443, protocol: 'https', sandboxed: true }
    expect(await decision(inside)).toBe('allow')
    expect(await decision(inside, { approvalMode: 'untrusted' })).toBe('deny')
    const rules = loadRules([
      {
        path: 'n.rules',
        layer: 'user',
        text: 'network_rule(host="example.com", protocol="https", decision="forbidden")',
      },
    ])
    expect(await decision(inside, { rules })).toBe('deny')
  })

  test('a network rule allows its host and no other, in upper or lower case', async () => {
    const rules = loadRules([
      { path: 'n.rules', layer: 'user', text: 'network_rule(host="a.example", protocol="https", decision="allow")' },
    ])
    const to = (host: string): Action => ({ type: 'network', host, port: 443, protocol: 'https' })
    expect(await decision(to('A.example.'), { rules })).toBe('allow')
    expect(await decision(to('b.a.example'), { rules })).toBe('deny')
    expect(await decision(to('a.example\0.evil'), { rules })).toBe('deny')
  })
})

describe('an allow rule', () => {
  const rules = loadRules([
    { path: 'a.rules', layer: 'user', text: 'prefix_rule(pattern=["touch"], decision="allow")' },
  ])

  test('avoids a question in untrusted mode', async () => {
    expect(await decision(shellAction('touch x'), { rules, approvalMode: 'untrusted' })).toBe('allow')
  })

  test('never lifts the sandbox: leaving it still needs approval', async () => {
    const leaving = { ...shellAction('touch /outside/x'), escalation: { justification: 'x' } }
    expect(await decision(leaving, { rules })).toBe('deny')
    const { verdict } = await review(shellAction('touch /outside/x'), { rules })
    expect(verdict).toMatchObject({ decision: 'allow', sandbox: 'as-requested' })
  })

  test('does not cover a redirection, an assignment or another command next to it', async () => {
    for (const line of ['touch x > y', 'PATH=. touch x', 'touch x; make', 'touch $(make)']) {
      expect([line, await decision(shellAction(line), { rules, approvalMode: 'untrusted' })]).toEqual([line, 'deny'])
    }
  })
})

describe('only the approved action runs', () => {
  test('the approved action is a frozen copy', async () => {
    const argv = ['/bin/bash', '-c', 'ls']
    const { approved } = await review({ type: 'exec', argv, cwd: '/repo', sandbox: 'read-only' })
    argv[2] = 'rm -rf /'
    expect(approved).toMatchObject({ argv: ['/bin/bash', '-c', 'ls'] })
    expect(Object.isFrozen(approved)).toBe(true)
    expect(Object.isFrozen(approved?.type === 'exec' ? approved.argv : undefined)).toBe(true)
  })

  test('changing the action while the reviewer thinks changes nothing', async () => {
    const action = { ...shellAction('x'), argv: ['unknown-tool'] }
    const reviewer = reviewerThat(async () => {
      action.argv[0] = 'worse-tool'
      return { outcome: 'allowed', reason: 'fine' }
    })
    const { approved } = await review(action, { reviewer, approvalMode: 'untrusted' })
    expect(approved).toMatchObject({ argv: ['unknown-tool'] })
  })
})

describe('a reviewer', () => {
  const asked = shellAction('unknown-tool')

  test.each([
    ['denied', /no thanks/],
    ['timed-out', /did not answer in time/],
    ['unavailable', /could not be reached/],
    ['malformed', /could not be understood/],
  ] as const)('that ends as %s denies in words of its own', async (outcome, words) => {
    const reviewer = reviewerThat(() => Promise.resolve({ outcome, reason: 'no thanks' }))
    const { verdict, approved } = await review(asked, { reviewer, approvalMode: 'untrusted' })
    expect(approved).toBeUndefined()
    expect(verdict).toMatchObject({
      decision: 'deny',
      decidedBy: 'reviewer:test',
      reason: expect.stringMatching(words),
    })
  })

  test('that throws, or gives an invalid answer, denies', async () => {
    const throwing = reviewerThat(() => Promise.reject(new Error('socket closed')))
    expect((await review(asked, { reviewer: throwing, approvalMode: 'untrusted' })).verdict.reason).toMatch(
      /could not be reached.*socket closed/,
    )
    const nonsense = reviewerThat(() => Promise.resolve(JSON.parse('{"outcome":"sure"}')))
    expect(await decision(asked, { reviewer: nonsense, approvalMode: 'untrusted' })).toBe('deny')
    const nothing = reviewerThat(() => Promise.resolve(JSON.parse('null')))
    expect(await decision(asked, { reviewer: nothing, approvalMode: 'untrusted' })).toBe('deny')
  })

  test('can allow an action or end the run', async () => {
    const allowing = reviewerThat(() => Promise.resolve({ outcome: 'allowed', reason: 'ok' }))
    expect(await decision(asked, { reviewer: allowing, approvalMode: 'untrusted' })).toBe('allow')
    const aborting = reviewerThat(() => Promise.resolve({ outcome: 'aborted', reason: 'enough' }))
    expect(await decision(asked, { reviewer: aborting, approvalMode: 'untrusted' })).toBe('abort')
  })

  test('is never asked in the mode never, or about actions that a rule forbids', async () => {
    const reviewer = reviewerThat(() => Promise.resolve({ outcome: 'allowed', reason: 'ok' }))
    const rules = loadRules([
      {
        path: 'f.rules',
        layer: 'user',
        text: 'prefix_rule(pattern=["unknown-tool"], decision="forbidden", justification="use npm")',
      },
    ])
    expect((await review(asked, { reviewer, rules, approvalMode: 'untrusted' })).verdict).toMatchObject({
      decision: 'deny',
      decidedBy: 'rules',
      reason: 'use npm',
      rule: 'f.rules:1 forbidden unknown-tool',
    })
    expect(await decision({ ...asked, escalation: { justification: 'x' } }, { reviewer })).toBe('deny')
  })

  test('is not asked after the run is interrupted', async () => {
    const guardian = createGuardian({
      approvalMode: 'untrusted',
      reviewer: reviewerThat(() => Promise.resolve({ outcome: 'allowed', reason: '' })),
      audit: withoutAuditLog(),
    })
    const { verdict } = await guardian.review(asked, { signal: AbortSignal.abort() })
    expect(verdict.decision).toBe('deny')
  })
})

describe('every mode', () => {
  const lines = ['ls', 'touch x', 'unknown-tool', 'sudo ls']
  test.each([
    ['untrusted', 'workspace-write', ['allow', 'deny', 'deny', 'deny']],
    ['on-request', 'workspace-write', ['allow', 'allow', 'allow', 'deny']],
    ['on-failure', 'workspace-write', ['allow', 'allow', 'allow', 'deny']],
    ['never', 'workspace-write', ['allow', 'allow', 'allow', 'deny']],
    ['on-request', 'danger-full-access', ['allow', 'allow', 'allow', 'deny']],
    ['never', 'danger-full-access', ['allow', 'allow', 'allow', 'deny']],
    ['bypass', 'danger-full-access', ['allow', 'allow', 'allow', 'allow']],
  ] as const)('%s under %s decides as its table says', async (mode: ApprovalMode, sandbox, expected) => {
    const decisions = await Promise.all(
      lines.map((line) => decision(shellAction(line, sandbox), { approvalMode: mode })),
    )
    expect(decisions).toEqual(expected)
  })
})

describe('the audit log', () => {
  test('has a verdict before its action starts, and each record has the hash of the previous one', async () => {
    const path = join(folder, 'audit', 'log.jsonl')
    const audit = openAuditLog(path)
    await review(shellAction('ls'), { audit })
    await review(patch('/etc/passwd'), { audit })
    audit.close()
    const records = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { number: number; previous: string; verdict: { decision: string } })
    expect(records.map(({ number, verdict }) => [number, verdict.decision])).toEqual([
      [1, 'allow'],
      [2, 'deny'],
    ])
    expect(records[0]?.previous).toMatch(/^0{64}$/)
    expect(records[1]?.previous).toMatch(/^[0-9a-f]{64}$/)
  })

  test('that cannot be written turns an approval into a denial', async () => {
    const path = join(folder, 'closed.jsonl')
    const audit = openAuditLog(path)
    audit.close()
    const { verdict, approved } = await review(shellAction('ls'), { audit })
    expect(approved).toBeUndefined()
    expect(verdict).toMatchObject({ decision: 'deny', decidedBy: 'audit' })
  })

  test('detects another writer', async () => {
    const path = join(folder, 'shared.jsonl')
    const [one, two] = [openAuditLog(path), openAuditLog(path)]
    await review(shellAction('ls'), { audit: one })
    expect((await review(shellAction('ls'), { audit: two })).verdict).toMatchObject({
      decision: 'deny',
      decidedBy: 'audit',
    })
  })

  test('masks secrets by their shape and by the values of secret variables', async () => {
    const path = join(folder, 'secrets.jsonl')
    const audit = openAuditLog(path, { environment: { DEPLOY_TOKEN: 'hunter2hunter2', HOME: '/home/visible' } })
    await review(
      shellAction(
        'curl -H "Authorization: Bearer abcdef0123456789" https://me:pa55word@x.example/hunter2hunter2 # /home/visible',
      ),
      { audit },
    )
    const text = readFileSync(path, 'utf8')
    expect(text).not.toMatch(/abcdef0123456789|pa55word|hunter2/)
    expect(text).toContain('/home/visible')
  })

  test('refuses to continue a log whose last record is cut off', async () => {
    const path = join(folder, 'cut.jsonl')
    const audit = openAuditLog(path)
    await review(shellAction('ls'), { audit })
    audit.close()
    const { truncateSync } = await import('node:fs')
    truncateSync(path, 20)
    expect(() => openAuditLog(path)).toThrow(AuditError)
  })
})
